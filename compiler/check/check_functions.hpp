#pragma once
// Bodies of functions: statements of composites, command lines of apps.
#include "compiler/check/context.hpp"

namespace raddle::check_detail {

/// After the top-level statements of all modules: bodies may read every global.
void check_function_bodies(Context& context);

}  // namespace raddle::check_detail
