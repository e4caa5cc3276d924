#pragma once
// A `@memo` function becomes two: what it does, and what calls of it do: see Note [memo] in ir/module.hpp.
#include "compiler/lower/lower_function.hpp"

namespace raddle::lowering {

/// Fills `caller`, which is empty, so that it takes the results of `body` from the record where that has them. Reports
/// inputs and outputs that can not be kept.
/// @param limits  how many of the last parameters are limits of an app, on which its results do not depend
void lower_memo(ModuleContext& context, ir::FunctionId caller, ir::FunctionId body, std::size_t limits);

}  // namespace raddle::lowering
