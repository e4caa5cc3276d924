#pragma once
// `@location` before calls whose state would have to be kept there.
#include "compiler/check/context.hpp"

namespace raddle::check_detail {

/// After all bodies are checked. State is kept by the process or thread that answers, and it is not the annotation that
/// says which: what a later call would find there is by chance. So is it where a function around such a call has the
/// annotation.
void refuse_places_of_state(Context& context);

}  // namespace raddle::check_detail
