#include "compiler/emit/read_windows.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace raddle::emit {
namespace {

/// A sum of products of registers: each product, its registers in order, and how often it is there. Overflow is of no
/// concern: machine code looks whether reads lie as is thought here.
using Sum = std::map<std::vector<vm::KernelRegister>, std::int64_t>;
constexpr std::size_t most_products = 32;

Sum product(const Sum& one, const Sum& other) {
  Sum all;
  for (const auto& [left, left_count] : one)
    for (const auto& [right, right_count] : other) {
      std::vector<vm::KernelRegister> registers = left;
      registers.insert(registers.end(), right.begin(), right.end());
      std::ranges::sort(registers);
      all[registers] += left_count * right_count;
    }
  return all;
}

/// What a prelude computes for an iteration, or for the one behind it, as sums of products of its parameters.
class PreludeSums {
 public:
  PreludeSums(const vm::Kernel& prelude, bool is_next) {
    for (vm::KernelRegister id = 0; id < prelude.parameter_count; ++id) sums_[id] = Sum{{{id}, 1}};
    if (is_next) sums_[0][{}] = 1;
    for (vm::KernelRegister id = prelude.parameter_count; prelude.is_constant(id); ++id)
      sums_[id] = Sum{{{}, prelude.constant(id)}};
    for (const vm::KernelInstruction& each : prelude.blocks[0])
      if (each.result != vm::no_kernel_part) add(each);
  }
  /// @return  null: it is something else
  const Sum* of(vm::KernelRegister id) const {
    const auto found = sums_.find(id);
    return found == sums_.end() ? nullptr : &found->second;
  }

 private:
  void add(const vm::KernelInstruction& each) {
    const Sum *const one = of(each.inputs[0]), *const other = of(each.inputs[1]);
    Sum sum;
    if (each.op == vm::KernelOp::copy && one) {
      sum = *one;
    } else if (each.op == vm::KernelOp::index_add && one && other) {
      sum = *one;
      for (const auto& [registers, count] : *other) sum[registers] += count;
    } else if (each.op == vm::KernelOp::index_mul && one && other) {
      sum = product(*one, *other);
    } else {
      return;
    }
    std::erase_if(sum, [](const auto& each_product) { return each_product.second == 0; });
    if (sum.size() <= most_products) sums_[each.result] = std::move(sum);
  }

  std::map<vm::KernelRegister, Sum> sums_;
};

bool are_of_one_array(const vm::IndexLaunch& launch, const vm::LaunchRead& one, const vm::LaunchRead& other) {
  const auto is_affine = [&](const vm::LaunchRead& read) {
    const vm::LaunchKey& key = launch.keys[read.first_key];
    return read.key_count == 1 && key.is_affine() && key.stride == 1;
  };
  return one.array == other.array && is_affine(one) && is_affine(other);
}

/// The element behind the one that the read before it is about.
bool reads_next(const vm::IndexLaunch& launch, std::size_t read) {
  const vm::LaunchRead &one = launch.reads[read - 1], &other = launch.reads[read];
  if (!are_of_one_array(launch, one, other)) return false;
  const vm::LaunchKey &key = launch.keys[one.first_key], &next = launch.keys[other.first_key];
  return key.base.value == next.base.value && key.base.operand == next.base.operand && next.offset == key.offset + 1;
}

}  // namespace

void find_windows(const vm::Program& program, const vm::IndexLaunch& launch, const vm::LaunchNest& nest,
                  vm::KernelEntry& entry) {
  const std::size_t count = std::min<std::size_t>(entry.reads, 64);
  for (std::size_t i = 1; i < count; ++i)
    if (reads_next(launch, i)) entry.follows |= std::uint64_t{1} << i;
  if (entry.follows == 0 || nest.prelude == vm::no_id || !program.kernels[nest.prelude].exists()) return;
  const vm::Kernel& prelude = program.kernels[nest.prelude];
  if (prelude.blocks.size() != 1) return;
  const PreludeSums here(prelude, false), in_next(prelude, true);
  std::size_t line = 0;  // the first read of those that follow each other
  for (std::size_t i = 1; i < count; ++i) {
    if ((entry.follows >> i & 1) != 0) continue;
    const vm::LaunchRead &above = launch.reads[line], &below = launch.reads[i];
    line = i;
    if (!are_of_one_array(launch, above, below)) continue;
    const vm::LaunchKey &key = launch.keys[above.first_key], &other = launch.keys[below.first_key];
    if (key.base.value == vm::no_id || other.base.value == vm::no_id || key.offset != other.offset) continue;
    const Sum *const moved = in_next.of(prelude.outputs[key.base.value]), *const there = here.of(
                                                                              prelude.outputs[other.base.value]);
    if (moved && there && *moved == *there) entry.row_follows |= std::uint64_t{1} << i;
  }
}

}  // namespace raddle::emit
