#include "vm/device/near_elements.hpp"

#include <algorithm>
#include <vector>

namespace raddle::vm {

namespace {

using Offset = std::optional<std::int64_t>;

/// How often instructions assign it: a branch may have another value.
std::int64_t assignments(const Kernel& kernel, KernelRegister id) {
  std::int64_t count = 0;
  for (const auto& block : kernel.blocks) count += std::ranges::count(block, id, &KernelInstruction::result);
  return count;
}

/// By register, how far it is from the point, if that is a constant.
class Offsets {
 public:
  explicit Offsets(const Kernel& kernel) : kernel_(kernel), offsets_(kernel.types.size()) {
    offsets_[0] = 0;
    for (const auto& block : kernel.blocks)
      for (const KernelInstruction& instruction : block)
        if (instruction.result != no_kernel_part && assignments(kernel, instruction.result) == 1)
          offsets_[instruction.result] = of(instruction);
  }
  Offset of(KernelRegister id) const { return offsets_[id]; }

 private:
  Offset of(const KernelInstruction& instruction) const {
    const auto [a, b, unused] = instruction.inputs;
    switch (instruction.op) {
      case KernelOp::copy:
      case KernelOp::index: return offsets_[a];
      case KernelOp::add_int:
      case KernelOp::index_add: return offsets_[a] ? moved(a, b, 1) : moved(b, a, 1);
      case KernelOp::sub_int: return moved(a, b, -1);
      default: return {};
    }
  }
  Offset moved(KernelRegister from, KernelRegister by, std::int64_t sign) const {
    constexpr std::int64_t most = std::int64_t{1} << 31;  // no sum of few of them overflows
    if (!offsets_[from] || !kernel_.is_constant(by)) return {};
    const std::int64_t distance = kernel_.constant(by);
    if (distance < -most || distance > most) return {};
    const std::int64_t offset = *offsets_[from] + sign * distance;
    return offset < -most || offset > most ? Offset() : offset;
  }

  const Kernel& kernel_;
  std::vector<Offset> offsets_;
};

/// Something else than an instruction takes it.
bool is_given_away(const Kernel& kernel, KernelRegister id) {
  Kernel rest = kernel;
  rest.blocks.clear();
  return rest.reads(id);
}

}  // namespace

std::optional<NearElements> near_elements(const Kernel& kernel, KernelRegister array) {
  if (is_given_away(kernel, array)) return {};
  const Offsets offsets(kernel);
  std::optional<NearElements> found;
  for (const auto& block : kernel.blocks)
    for (const KernelInstruction& instruction : block) {
      if (std::ranges::find(instruction.inputs, array) == instruction.inputs.end()) continue;
      if (instruction.op == KernelOp::size) continue;
      const Offset offset = is_get(instruction.op) ? offsets.of(instruction.inputs[1]) : Offset();
      if (!offset) return {};
      found = found ? NearElements{std::min(found->first, *offset), std::max(found->last, *offset)}
                    : NearElements{*offset, *offset};
    }
  return found;
}

}  // namespace raddle::vm
