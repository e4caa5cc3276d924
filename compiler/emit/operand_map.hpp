#pragma once
// Where the instructions of a body find a function's variables.
#include <cstdint>
#include <vector>

#include "compiler/emit/function_plan.hpp"
#include "vm/program/program.hpp"

namespace raddle::emit {

/// What a variable or constant of the IR is to an instruction: how many frames outward, and which slot.
class OperandMap {
 public:
  /// @param plan  outlives it
  explicit OperandMap(const FunctionPlan& plan) : plan_(plan) {}

  /// @param body  of the instruction
  vm::Operand of(ir::VarId id, std::uint32_t body) const {
    const VariablePlan& plan = plan_.variables[id];
    std::uint32_t level = 0;
    for (; body != plan.body && plan_.bodies[body].parent != ir::none; body = plan_.bodies[body].parent) ++level;
    return vm::Operand::local(plan.slot, level, plan.is_output);
  }
  vm::Operand of(ir::Operand operand, std::uint32_t body) const {
    if (operand.index == ir::none) return {};
    return operand.is_constant ? vm::Operand::constant(operand.index) : of(operand.index, body);
  }
  /// @param list  of variables or operands
  template <typename List>
  std::vector<vm::Operand> all(const List& list, std::uint32_t body) const {
    std::vector<vm::Operand> result;
    for (const auto& each : list) result.push_back(of(each, body));
    return result;
  }

 private:
  const FunctionPlan& plan_;
};

}  // namespace raddle::emit
