#include "compiler/codegen/kernel_facts.hpp"

#include <bit>

namespace raddle::codegen {

using vm::Kernel;
using vm::KernelBlockId;
using vm::KernelId;
using vm::KernelInstruction;
using vm::KernelLoop;
using vm::KernelOp;
using vm::KernelRegister;

std::vector<KernelRegister> results_of(const Kernel& kernel, const KernelInstruction& instruction) {
  switch (instruction.op) {
    case KernelOp::if_: return {};
    case KernelOp::loop: return kernel.loops[instruction.index].variables;
    case KernelOp::call: return kernel.calls[instruction.index].results;
    case KernelOp::reduce: return {kernel.reductions[instruction.index].result};
    case KernelOp::foreign: return {kernel.foreign_calls[instruction.index].result};
    case KernelOp::each: return {kernel.eaches[instruction.index].point};
    default: break;
  }
  if (instruction.result == vm::no_kernel_part) return {};
  return {instruction.result};
}

std::vector<KernelRegister> inputs_of(const Kernel& kernel, const KernelInstruction& instruction) {
  switch (instruction.op) {
    case KernelOp::if_: return {instruction.inputs[0]};
    case KernelOp::loop: return kernel.loops[instruction.index].initial;
    case KernelOp::call: return kernel.calls[instruction.index].inputs;
    case KernelOp::reduce: {
      std::vector<KernelRegister> inputs = kernel.reductions[instruction.index].inputs;
      inputs.push_back(kernel.reductions[instruction.index].count);
      return inputs;
    }
    case KernelOp::foreign: return kernel.foreign_calls[instruction.index].inputs;
    case KernelOp::each: return {kernel.eaches[instruction.index].count};
    default: break;
  }
  const std::size_t count = vm::info(instruction.op).inputs.size();
  return {instruction.inputs.begin(), instruction.inputs.begin() + static_cast<std::ptrdiff_t>(count)};
}

std::set<KernelRegister> assigned_in(const Kernel& kernel, KernelBlockId block) {
  std::set<KernelRegister> assigned;
  visit_blocks(kernel, block, [&](KernelBlockId inner) {
    for (const KernelInstruction& instruction : kernel.blocks[inner]) {
      const std::vector<KernelRegister> results = results_of(kernel, instruction);
      assigned.insert(results.begin(), results.end());
    }
  });
  return assigned;
}

bool is_read_outside(const Kernel& kernel, const KernelLoop& loop, KernelRegister variable) {
  std::set<KernelBlockId> inside;
  visit_blocks(kernel, loop.test_block, [&](KernelBlockId block) { inside.insert(block); });
  visit_blocks(kernel, loop.body_block, [&](KernelBlockId block) { inside.insert(block); });
  if (contains(kernel.outputs, variable)) return true;
  for (KernelBlockId block = 0; block < kernel.blocks.size(); ++block) {
    if (inside.contains(block)) continue;
    for (const KernelInstruction& instruction : kernel.blocks[block]) {
      if (contains(inputs_of(kernel, instruction), variable)) return true;
      if (instruction.op != KernelOp::loop) continue;
      const KernelLoop& other = kernel.loops[instruction.index];
      if (&other != &loop && (contains(other.next, variable) || other.condition == variable)) return true;
    }
  }
  return false;
}

std::vector<KernelRegister> conjunction(const Kernel& kernel, const KernelLoop& loop) {
  const auto& test = kernel.blocks[loop.test_block];
  std::vector<KernelRegister> open = {loop.condition}, parts;
  while (!open.empty()) {
    const KernelRegister next = open.back();
    open.pop_back();
    const auto found = std::ranges::find(test, next, &KernelInstruction::result);
    if (found != test.end() && found->op == KernelOp::and_)
      open.insert(open.end(), found->inputs.begin(), found->inputs.begin() + 2);
    else
      parts.push_back(next);
  }
  return parts;
}

std::optional<std::int64_t> step_of(const Kernel& kernel, const KernelLoop& loop, std::size_t variable) {
  const auto& body = kernel.blocks[loop.body_block];
  const auto step = std::ranges::find(body, loop.next[variable], &KernelInstruction::result);
  if (step == body.end() || (step->op != KernelOp::add_int && step->op != KernelOp::index_add) ||
      step->inputs[0] != loop.variables[variable] || !kernel.is_constant(step->inputs[1]))
    return std::nullopt;
  return kernel.constant(step->inputs[1]);
}

std::optional<Counter> counter_of(const Kernel& kernel, const KernelLoop& loop) {
  if (loop.test_after) return std::nullopt;
  const auto& test = kernel.blocks[loop.test_block];
  const std::vector<KernelRegister> parts = conjunction(kernel, loop);
  for (const KernelRegister part : parts) {
    const auto compares = std::ranges::find(test, part, &KernelInstruction::result);
    if (compares == test.end() || (compares->op != KernelOp::lt_int && compares->op != KernelOp::le_int)) continue;
    const auto found = std::ranges::find(loop.variables, compares->inputs[0]);
    if (found == loop.variables.end()) continue;
    const auto variable = static_cast<std::size_t>(found - loop.variables.begin());
    if (step_of(kernel, loop, variable).value_or(0) > 0)
      return Counter{loop.initial[variable], compares->inputs[1], parts.size() == 1};
  }
  return std::nullopt;
}

bool is_brief(const Kernel& kernel, const KernelLoop& loop) {
  constexpr std::int64_t most_iterations = 1000;
  const auto is_plain = [](const KernelInstruction& instruction) { return !vm::is_control(instruction.op); };
  if (!std::ranges::all_of(kernel.blocks[loop.test_block], is_plain) ||
      !std::ranges::all_of(kernel.blocks[loop.body_block], is_plain))
    return false;
  const std::optional<Counter> counter = counter_of(kernel, loop);
  return counter && kernel.is_constant(counter->first) && kernel.is_constant(counter->end) &&
         kernel.constant(counter->first) > -most_iterations && kernel.constant(counter->end) < most_iterations;
}

GroupFacts::GroupFacts(const vm::KernelGroup& group)
    : group_(group), reached_(group.size()), fails_(group.size()), costs_(group.size()) {
  for (KernelId id = 0; id < group.size(); ++id) {
    std::vector<KernelId> open = {id};
    while (!open.empty()) {
      const KernelId next = open.back();
      open.pop_back();
      vm::visit_callees(group[next], [&](KernelId callee) {
        if (reached_[id].insert(callee).second) open.push_back(callee);
      });
    }
  }
  has_own_arrays_ = std::ranges::any_of(group, [](const Kernel& kernel) { return kernel.has_own_arrays(); });
}

bool GroupFacts::is_heavy(KernelId kernel) const {
  const auto is_itself = [&](KernelId id) {
    return !group_[id].loops.empty() || !group_[id].reductions.empty() || group_[id].has_own_arrays() ||
           is_recursive(id);
  };
  return is_itself(kernel) || std::ranges::any_of(reached_[kernel], is_itself);
}

bool GroupFacts::has_loops_or_recursion() const {
  for (KernelId id = 0; id < group_.size(); ++id)
    if (!group_[id].loops.empty() || group_[id].has_own_arrays() || is_recursive(id)) return true;
  return false;
}

bool GroupFacts::fails(KernelId kernel) const {
  std::optional<bool>& known = fails_[kernel];
  if (!known) known = can_fail(group_[kernel], 0);
  return *known;
}

std::size_t GroupFacts::cost_of_call(KernelId kernel) const {
  constexpr std::size_t most = std::size_t{1} << 32;  // sums of costs do not overflow
  std::optional<std::size_t>& known = costs_[kernel];
  if (!known) known = std::min(cost(group_[kernel], 0) + 1, most);
  return *known;
}

bool GroupFacts::can_fail(const Kernel& kernel, KernelBlockId block) const {
  bool found = false;
  visit_blocks(kernel, block, [&](KernelBlockId inner) {
    for (const KernelInstruction& instruction : kernel.blocks[inner]) {
      if (instruction.op == KernelOp::call)
        found = found || fails(kernel.calls[instruction.index].kernel);
      else if (instruction.op == KernelOp::reduce)
        found = true;  // of no numbers there is no mean
      else
        found = found || vm::info(instruction.op).failure != vm::KernelFailure::nothing;
    }
  });
  return found;
}

bool GroupFacts::has_loop(const Kernel& kernel, KernelBlockId block) const {
  bool found = false;
  visit_blocks(kernel, block, [&](KernelBlockId inner) {
    for (const KernelInstruction& instruction : kernel.blocks[inner])
      found = found || instruction.op == KernelOp::loop || instruction.op == KernelOp::reduce ||
              instruction.op == KernelOp::each ||
              (instruction.op == KernelOp::call && is_heavy(kernel.calls[instruction.index].kernel));
  });
  return found;
}

bool GroupFacts::has_open_loop(KernelId kernel) const {
  std::set<KernelId> all = reached_[kernel];
  all.insert(kernel);
  return std::ranges::any_of(all, [&](KernelId id) {
    return std::ranges::any_of(group_[id].loops, [&](const KernelLoop& loop) {
      const std::optional<Counter> counter = counter_of(group_[id], loop);
      return !counter || !counter->decides_alone;
    });
  });
}

/// By what is no constant power of two. @param block  with all inside of it, but not what is called there
bool GroupFacts::divides(KernelId id, KernelBlockId block) const {
  const Kernel& kernel = group_[id];
  const auto is_shift = [&](KernelRegister divisor) {
    return kernel.is_constant(divisor) && kernel.constant(divisor) > 0 &&
           std::has_single_bit(static_cast<std::uint64_t>(kernel.constant(divisor)));
  };
  bool found = false;
  visit_blocks(kernel, block, [&](KernelBlockId inner) {
    for (const KernelInstruction& instruction : kernel.blocks[inner])
      found = found || ((instruction.op == KernelOp::idiv || instruction.op == KernelOp::mod) &&
                        !is_shift(instruction.inputs[1]));
  });
  return found;
}

bool GroupFacts::divides_in_loop(KernelId kernel) const {
  const auto is_in_loop = [&](KernelId id, KernelBlockId block) {
    bool found = divides(id, block);
    visit_blocks(group_[id], block, [&](KernelBlockId inner) {
      for (const KernelInstruction& instruction : group_[id].blocks[inner]) {
        if (found || instruction.op != KernelOp::call) continue;
        const KernelId callee = group_[id].calls[instruction.index].kernel;
        found = divides(callee, 0) ||
                std::ranges::any_of(reached_[callee], [&](KernelId each) { return divides(each, 0); });
      }
    });
    return found;
  };
  std::set<KernelId> all = reached_[kernel];
  all.insert(kernel);
  return std::ranges::any_of(all, [&](KernelId id) {
    return std::ranges::any_of(group_[id].loops, [&](const KernelLoop& loop) {
      return is_in_loop(id, loop.test_block) || is_in_loop(id, loop.body_block);
    });
  });
}

namespace {

/// Where a float is rounded LLVM makes one operation of 32 bits of that, of what has computed it and of its inputs.
bool is_folded(KernelOp op) {
  return op == KernelOp::float32_to_float || op == KernelOp::round_to_float32 || op == KernelOp::int32_to_int;
}

}  // namespace

std::size_t GroupFacts::cost_of(const Kernel& kernel, const KernelInstruction& instruction) const {
  constexpr std::size_t division_cost = 16, element_cost = 8, mathematics_cost = 40, float32_cost = 20,
                        random_cost = 120;
  const KernelOp op = instruction.op;
  if (is_folded(op)) return 0;
  if (op == KernelOp::call) return cost_of_call(kernel.calls[instruction.index].kernel);
  if (op == KernelOp::idiv || op == KernelOp::mod) return division_cost;
  if (vm::info(op).failure == vm::KernelFailure::index) return element_cost;
  if (op == KernelOp::random_unit || op == KernelOp::random_below) return random_cost;
  if (op >= KernelOp::cbrt_32 && op <= KernelOp::pow_float_32) return float32_cost;
  return op >= KernelOp::cbrt && op <= KernelOp::pow_int ? mathematics_cost : 1;
}

std::size_t GroupFacts::cost(const Kernel& kernel, KernelBlockId block) const {
  std::size_t total = 0;
  visit_blocks(kernel, block, [&](KernelBlockId inner) {
    for (const KernelInstruction& instruction : kernel.blocks[inner]) total += cost_of(kernel, instruction);
  });
  return total;
}

bool GroupFacts::is_narrow(KernelId kernel) const {
  constexpr std::size_t rounds = 16;  // of a loop, about
  std::size_t narrow = 0, wide = 0;
  const auto add = [&](KernelId id, const KernelInstruction& instruction, std::size_t times) {
    const KernelOp op = instruction.op;
    if (op == KernelOp::round_to_float32 || op == KernelOp::int_to_int32) {  // what has computed it was counted as wide
      narrow += times;
      wide -= std::min<std::size_t>(wide, times);
    } else if (!vm::is_control(op) && op != KernelOp::copy && instruction.result != vm::no_kernel_part) {
      const vm::KernelType type = group_[id].types[instruction.result];
      const std::size_t cost = times * cost_of(group_[id], instruction);
      if (type == vm::KernelType::float_) wide += cost;  // ints are mostly indices
      if (type == vm::KernelType::float32 || type == vm::KernelType::int32) narrow += cost;
    }
  };
  std::set<KernelId> all = reached_[kernel];
  all.insert(kernel);
  for (const KernelId id : all) {
    std::set<KernelBlockId> repeated;
    for (const KernelLoop& loop : group_[id].loops)
      for (const KernelBlockId block : {loop.test_block, loop.body_block})
        visit_blocks(group_[id], block, [&](KernelBlockId inner) { repeated.insert(inner); });
    visit_blocks(group_[id], 0, [&](KernelBlockId block) {
      for (const KernelInstruction& instruction : group_[id].blocks[block])
        add(id, instruction, repeated.contains(block) ? rounds : 1);
    });
  }
  return narrow > wide;
}

/// A C function is called for one point after the other, until one fails; a reduction has its own lanes. What is large
/// is not worth its compilation.
bool GroupFacts::suits_lanes(KernelId kernel) const {
  constexpr std::size_t most_cost = 4000;
  std::set<KernelId> all = reached_[kernel];
  all.insert(kernel);
  for (const KernelId id : all) {
    const Kernel& each = group_[id];
    if (is_recursive(id) || !each.reductions.empty() || !each.foreign_calls.empty() || each.has_own_arrays())
      return false;
    // lanes read the elements of one array
    for (const KernelLoop& loop : each.loops)
      if (std::ranges::any_of(loop.variables, [&](KernelRegister id) { return is_array(each.types[id]); }))
        return false;
  }
  return cost(group_[kernel], 0) <= most_cost;
}

}  // namespace raddle::codegen
