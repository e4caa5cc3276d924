#pragma once
// What generation asks of kernels before it emits them.
#include <algorithm>
#include <concepts>
#include <optional>
#include <set>
#include <vector>

#include "vm/kernel/kernel.hpp"

namespace raddle::codegen {

/// Calls `visit` for the block and for all inside of it.
void visit_blocks(const vm::Kernel& kernel, vm::KernelBlockId block, std::invocable<vm::KernelBlockId> auto visit) {
  if (block == vm::no_kernel_part) return;
  visit(block);
  for (const vm::KernelInstruction& instruction : kernel.blocks.at(block)) {
    if (instruction.op == vm::KernelOp::if_) {
      visit_blocks(kernel, kernel.branches[instruction.index].then_block, visit);
      visit_blocks(kernel, kernel.branches[instruction.index].else_block, visit);
    } else if (instruction.op == vm::KernelOp::loop) {
      visit_blocks(kernel, kernel.loops[instruction.index].test_block, visit);
      visit_blocks(kernel, kernel.loops[instruction.index].body_block, visit);
    } else if (instruction.op == vm::KernelOp::each) {
      visit_blocks(kernel, kernel.eaches[instruction.index].block, visit);
    }
  }
}

inline bool contains(const std::vector<vm::KernelRegister>& registers, vm::KernelRegister id) {
  return std::ranges::find(registers, id) != registers.end();
}
/// What an instruction assigns itself, without its blocks.
std::vector<vm::KernelRegister> results_of(const vm::Kernel& kernel, const vm::KernelInstruction& instruction);
/// What an instruction reads itself: of a loop the values from before it.
std::vector<vm::KernelRegister> inputs_of(const vm::Kernel& kernel, const vm::KernelInstruction& instruction);
/// By the block or inside of it.
std::set<vm::KernelRegister> assigned_in(const vm::Kernel& kernel, vm::KernelBlockId block);
/// By whom else than the loop and what is inside of it.
bool is_read_outside(const vm::Kernel& kernel, const vm::KernelLoop& loop, vm::KernelRegister variable);
/// What a loop's condition is made of by `and`: all of them hold if it holds.
std::vector<vm::KernelRegister> conjunction(const vm::Kernel& kernel, const vm::KernelLoop& loop);
/// What is added to a variable of a loop in each round, if that is one constant. @param variable  its place among them
std::optional<std::int64_t> step_of(const vm::Kernel& kernel, const vm::KernelLoop& loop, std::size_t variable);
/// What counts a loop's rounds up to an end.
struct Counter {
  vm::KernelRegister first, end;
  bool decides_alone;  ///< nothing else ends the loop
};
std::optional<Counter> counter_of(const vm::Kernel& kernel, const vm::KernelLoop& loop);
/// Without loops and calls in it, and counted from one constant to another: LLVM may unroll it. All other loops ask
/// whether the run is to end.
bool is_brief(const vm::Kernel& kernel, const vm::KernelLoop& loop);

/// Of a group as a whole.
class GroupFacts {
 public:
  explicit GroupFacts(const vm::KernelGroup& group);

  /// Some kernel has.
  bool has_own_arrays() const { return has_own_arrays_; }
  bool is_recursive(vm::KernelId kernel) const { return reached_[kernel].contains(kernel); }
  /// With a loop, a reduction, recursion, or calls such: a call may take long.
  bool is_heavy(vm::KernelId kernel) const;
  /// In any kernel: what has been computed before a reduction may have taken long.
  bool has_loops_or_recursion() const;
  bool can_fail(const vm::Kernel& kernel, vm::KernelBlockId block) const;
  bool has_loop(const vm::Kernel& kernel, vm::KernelBlockId block) const;
  /// A loop, also of what it calls, whose number of rounds is not known before it: points mostly leave it one by one.
  bool has_open_loop(vm::KernelId kernel) const;
  /// A loop, also of what it calls, divides ints by what is no constant power of two.
  bool divides_in_loop(vm::KernelId kernel) const;
  /// What it costs about, in instructions of a processor; of loops one round. @pre calls no recursive kernel
  std::size_t cost(const vm::Kernel& kernel, vm::KernelBlockId block) const;
  /// Whether most of what it computes, with all that it calls, is rounded to 32 bits.
  bool is_narrow(vm::KernelId kernel) const;
  /// Whether it can be computed for many points side by side: see Note [lanes] in lane_emitter.hpp.
  bool suits_lanes(vm::KernelId kernel) const;

 private:
  bool divides(vm::KernelId kernel, vm::KernelBlockId block) const;
  bool fails(vm::KernelId kernel) const;
  std::size_t cost_of(const vm::Kernel& kernel, const vm::KernelInstruction& instruction) const;
  std::size_t cost_of_call(vm::KernelId kernel) const;

  const vm::KernelGroup& group_;
  bool has_own_arrays_ = false;
  std::vector<std::set<vm::KernelId>> reached_;            ///< by kernel: what its calls may call, at any depth
  mutable std::vector<std::optional<bool>> fails_;         ///< by kernel, once asked
  mutable std::vector<std::optional<std::size_t>> costs_;  ///< likewise
};

}  // namespace raddle::codegen
