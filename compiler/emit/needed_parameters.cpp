#include "compiler/emit/needed_parameters.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>

namespace raddle::emit {

namespace {

using Registers = std::set<vm::KernelRegister>;

/// Adds to `needing` what a block assigns and can not have without one of `needing`. Results of loops and calls are
/// left out, as a loop may make no round and a function may not look at its argument.
void follow(const vm::Kernel& kernel, vm::KernelBlockId block, Registers& needing) {
  for (const vm::KernelInstruction& instruction : kernel.blocks[block]) {
    const auto needs = [&](vm::KernelRegister input) { return needing.contains(input); };
    if (instruction.op == vm::KernelOp::if_) {
      const vm::KernelBranch& branch = kernel.branches[instruction.index];
      if (branch.else_block == vm::no_kernel_part) continue;
      Registers in_then = needing, in_else = needing;
      follow(kernel, branch.then_block, in_then);
      follow(kernel, branch.else_block, in_else);
      std::ranges::set_intersection(in_then, in_else, std::inserter(needing, needing.end()));
    } else if (!vm::is_control(instruction.op) && instruction.result != vm::no_kernel_part) {
      const std::size_t count = vm::info(instruction.op).inputs.size();
      const auto end = instruction.inputs.begin() + static_cast<std::ptrdiff_t>(count);
      if (std::any_of(instruction.inputs.begin(), end, needs)) needing.insert(instruction.result);
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
