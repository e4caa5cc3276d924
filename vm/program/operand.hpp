#pragma once
#include <cstdint>

namespace raddle::vm {

/// Where an instruction finds a future. Levels count bodies outwards from the one that runs.
///   bits 0..23 slot or constant   24..29 level   30 constant   31 indirect: the slot holds a Future*, an output
class Operand {
 public:
  static constexpr std::uint32_t max_slot = (1u << 24) - 1;
  static constexpr std::uint32_t max_level = 62;  // 63 with all other bits set is `absent`
  constexpr Operand() = default;
  static constexpr Operand local(std::uint32_t slot, std::uint32_t level, bool indirect) {
    return Operand(slot | level << 24 | (indirect ? 1u << 31 : 0));
  }
  static constexpr Operand constant(std::uint32_t index) { return Operand(index | 1u << 30); }
  static constexpr Operand from_bits(std::uint32_t bits) { return Operand(bits); }
  /// A future of the running frame itself: the common case, and then bits() is the slot.
  constexpr bool is_plain() const { return bits_ <= max_slot; }
  constexpr bool is_constant() const { return (bits_ & 1u << 30) != 0; }
  constexpr bool is_indirect() const { return (bits_ & 1u << 31) != 0; }
  constexpr bool is_absent() const { return bits_ == ~0u; }
  constexpr std::uint32_t index() const { return bits_ & max_slot; }
  constexpr std::uint32_t level() const { return bits_ >> 24 & 63; }
  constexpr std::uint32_t bits() const { return bits_; }
  constexpr bool operator==(const Operand&) const = default;

 private:
  explicit constexpr Operand(std::uint32_t bits) : bits_(bits) {}
  std::uint32_t bits_ = ~0u;
};

}  // namespace raddle::vm
