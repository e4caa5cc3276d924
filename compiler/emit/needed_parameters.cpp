#include "compiler/emit/needed_parameters.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <span>

namespace raddle::emit {

namespace {

using Registers = std::set<vm::KernelRegister>;

void follow(const vm::Kernel& kernel, vm::KernelBlockId block, Registers& needing);

bool needs_any(const Registers& needing, std::span<const vm::KernelRegister> of) {
  return std::ranges::any_of(of, [&](vm::KernelRegister input) { return needing.contains(input); });
}

void follow_branch(const vm::Kernel& kernel, const vm::KernelInstruction& instruction, Registers& needing) {
  const vm::KernelBranch& branch = kernel.branches[instruction.index];
  if (branch.else_block == vm::no_kernel_part) return;
  Registers in_then = needing, in_else = needing;
  follow(kernel, branch.then_block, in_then);
  follow(kernel, branch.else_block, in_else);
  if (needing.contains(instruction.inputs[0])) {  // nothing is assigned before it is known which way to go
    for (const vm::KernelBlockId way : {branch.then_block, branch.else_block})
      for (const vm::KernelInstruction& inner : kernel.blocks[way])
        if (inner.result != vm::no_kernel_part) needing.insert(inner.result);
    return;
  }
  std::ranges::set_intersection(in_then, in_else, std::inserter(needing, needing.end()));
}

void follow_loop(const vm::Kernel& kernel, const vm::KernelLoop& loop, Registers& needing) {
  Registers in_round = needing;
  for (std::size_t i = 0; i < loop.variables.size(); ++i)
    if (needing.contains(loop.initial[i])) in_round.insert(loop.variables[i]);
  follow(kernel, loop.test_block, in_round);
  follow(kernel, loop.body_block, in_round);
  if (!in_round.contains(loop.condition) && !needs_any(in_round, loop.next)) return;
  needing.insert(loop.variables.begin(), loop.variables.end());
}

/// Adds to `needing` what a block assigns and can not have without one of `needing`. Loops are taken to make a round,
/// and functions to look at what they are given.
void follow(const vm::Kernel& kernel, vm::KernelBlockId block, Registers& needing) {
  for (const vm::KernelInstruction& instruction : kernel.blocks[block]) {
    if (instruction.op == vm::KernelOp::if_) {
      follow_branch(kernel, instruction, needing);
    } else if (instruction.op == vm::KernelOp::loop) {
      follow_loop(kernel, kernel.loops[instruction.index], needing);
    } else if (instruction.op == vm::KernelOp::call) {
      const vm::KernelCall& call = kernel.calls[instruction.index];
      if (needs_any(needing, call.inputs)) needing.insert(call.results.begin(), call.results.end());
    } else if (instruction.op == vm::KernelOp::reduce) {
      const vm::KernelReduction& reduction = kernel.reductions[instruction.index];
      if (needing.contains(reduction.count)) needing.insert(reduction.result);  // there may be no numbers
    } else if (instruction.op == vm::KernelOp::foreign) {
      const vm::KernelForeignCall& call = kernel.foreign_calls[instruction.index];
      if (needs_any(needing, call.inputs)) needing.insert(call.result);
    } else if (instruction.op == vm::KernelOp::each) {
      follow(kernel, kernel.eaches[instruction.index].block, needing);
    } else if (instruction.result != vm::no_kernel_part) {
      const std::span inputs(instruction.inputs.data(), vm::info(instruction.op).inputs.size());
      if (needs_any(needing, inputs)) needing.insert(instruction.result);
    }
  }
}

}  // namespace

std::vector<bool> needed_parameters(const vm::Kernel& kernel) {
  std::vector<bool> needed(kernel.parameter_count, false);
  for (vm::KernelRegister parameter = 0; parameter < kernel.parameter_count && kernel.exists(); ++parameter) {
    Registers needing = {parameter};
    follow(kernel, 0, needing);
    needed[parameter] = !kernel.outputs.empty() && std::ranges::all_of(kernel.outputs, [&](vm::KernelRegister output) {
      return needing.contains(output);
    });
  }
  return needed;
}

}  // namespace raddle::emit
