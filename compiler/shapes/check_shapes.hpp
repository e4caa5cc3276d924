#pragma once
// Shapes that do not fit, indices that are outside and axes that are not there, as far as that is sure before the run.
#include "compiler/check/context.hpp"

namespace raddle::check_detail {

/// When all else is checked and nothing is wrong. What is surely done is an error; what may be done is a warning;
/// nothing is said of what `try` or `@default` would replace, and of branches that are not taken.
void check_shapes(Context& context);

}  // namespace raddle::check_detail
