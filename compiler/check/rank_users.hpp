#pragma once
// Functions for which it matters which rank calls them.
#include "compiler/check/context.hpp"

namespace raddle::check_detail {

/// After all bodies are checked: fills CheckedFunction::uses_rank. Code in Tcl, Python and R leaves variables behind in
/// the rank that has run it, and functions that call such code do so, too.
void find_rank_users(Context& context);

}  // namespace raddle::check_detail
