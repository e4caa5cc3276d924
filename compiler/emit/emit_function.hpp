#pragma once
// Writes the bodies of one planned and partitioned function into the program.
#include "compiler/emit/function_plan.hpp"
#include "compiler/emit/structure_table.hpp"

namespace raddle::emit {

/// Appends bodies, regions, strands, instructions and sites. @return the body of the function itself
vm::BodyId emit_function(const FunctionPlan& plan, vm::FunctionId id, vm::Program& program, StructureTable& structures);

}  // namespace raddle::emit
