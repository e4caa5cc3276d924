#pragma once
// Which operations assign elements of the same array: for the message where one is assigned twice.
#include "compiler/emit/function_plan.hpp"
#include "vm/program/program.hpp"

namespace raddle::emit {

/// Adds those of a function's arrays whose elements are assigned at several places.
/// @param body  of the function
void add_element_writers(const FunctionPlan& plan, vm::BodyId body, vm::Program& program);

}  // namespace raddle::emit
