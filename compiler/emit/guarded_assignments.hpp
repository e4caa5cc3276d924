#pragma once
// Which assignments of a function hang on a branch or a loop: for the diagnosis of stuck runs.
#include <vector>

#include "compiler/emit/function_plan.hpp"
#include "vm/program/program.hpp"

namespace raddle::emit {

vm::Place place_of(Span span);

/// By variable: the assignments of it, and of fields of the structure it is, in regions inside of the one that declares
/// it.
std::vector<std::vector<vm::GuardedAssignment>> guarded_assignments(const FunctionPlan& plan);

}  // namespace raddle::emit
