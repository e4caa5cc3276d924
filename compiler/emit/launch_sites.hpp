#pragma once
// What the VM is told of index launches and nests of them.
#include <cstdint>
#include <vector>

#include "compiler/emit/operand_map.hpp"
#include "compiler/ir/module.hpp"
#include "vm/program/program.hpp"

namespace raddle::emit {

/// Makes `site` the index launch that `loop` is. @param body  of the loop's instruction
void set_launch(vm::ForeachSite& site, const ir::Module& module, const ir::Function& function,
                const OperandMap& operands, const ir::Op& loop, std::uint32_t body);

/// What fusion has made of a loop that is a launch, or loops around one that compute nothing but keys.
vm::Fusion fusion_of(const ir::Function& function, const ir::Op& loop);

/// By which variables messages tell the points of a loop.
std::vector<vm::ToldLoop> told_loops(const ir::Function& function, const ir::Op& loop);

/// The loops that the loop stands for. @param body  of its instruction
std::vector<vm::CollapsedLoop> collapsed_loops(const OperandMap& operands, const ir::Op& loop, std::uint32_t body);

/// The array of which an element has the point of a loop as its key; absent: there is none around the loop.
/// @param body  of the loop's instruction
vm::Operand element_of_result(const ir::Function& function, const OperandMap& operands, const Step& loop,
                              std::uint32_t body);

/// Makes `site` a nest; the inner loop's instruction is left to be set. @return that loop
/// @param body        of the instruction of `loop`, the outer one
/// @param inner_body  of its iterations
const ir::Op& set_nest(vm::ForeachSite& site, const ir::Module& module, const ir::Function& function,
                       const OperandMap& operands, const ir::Op& loop, std::uint32_t body, std::uint32_t inner_body);

/// @param body  of the loop's instruction
vm::LoopKernelSite loop_kernel(const ir::LoopKernel& from, const OperandMap& operands, std::uint32_t body);

}  // namespace raddle::emit
