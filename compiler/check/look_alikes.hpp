#pragma once
// Calls that are right here, but mean something else in NumPy or R.
#include "compiler/check/context.hpp"

namespace raddle::check_detail {

/// Warns of a resolved call that looks like another one, and refuses one that only makes sense as that.
void report_look_alike(Context& context, const ast::Call& call);

}  // namespace raddle::check_detail
