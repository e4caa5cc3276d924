#pragma once
// Inside of the lane machine: what goes over all lanes of registers, compiled for each processor.
#include <cstddef>
#include <cstdint>

#include "vm/kernel/kernel_scalars.hpp"
#include "vm/math/processor.hpp"

namespace raddle::vm {

/// 256 lanes are a register.
using LaneWord = std::int64_t;
inline constexpr std::size_t lanes_of_register = 256, lanes_of_vector = 8;

/// Which lanes of whose registers. Booleans are masks here: all bits or none.
struct LaneView {
  LaneWord* registers;                 ///< of the kernel that runs, aligned to 64 bytes
  std::uint8_t* strides;               ///< by register: 0 if only its first vector has its value, 1 else
  const KernelScalars::Array* arrays;  ///< by register
  const std::uint8_t* is_joined;       ///< by register: its other lanes are kept
  KernelRegister scratch;              ///< a register that nothing reads
  std::size_t begin, end;              ///< vectors
  const LaneWord* active;              ///< a mask; null: all lanes of these vectors

  LaneWord* lanes(KernelRegister id) const { return registers + id * lanes_of_register; }
};

/// Of a function of vm/math, which has it for many numbers at once.
constexpr bool is_mathematics(KernelOp op) { return op >= KernelOp::sqrt && op <= KernelOp::pow_float_32; }

struct LaneSplit {
  std::size_t yes_begin = 0, yes_end = 0, no_begin = 0, no_end = 0;  ///< vectors in which there are such lanes
  bool has_yes() const { return yes_begin < yes_end; }
  bool has_no() const { return no_begin < no_end; }
};

/// Of one processor: Note [for each processor] in vm/math/vector.hpp.
struct LaneOperations {
  /// Runs operations until one is of control or of mathematics, which are not done here.
  /// @return that one, or `end`; nullptr: some active lane has failed
  const KernelInstruction* (*run_operations)(const KernelInstruction* next, const KernelInstruction* end,
                                             const LaneView& view);
  /// `to` = `from` in all active lanes, the others keep what they have. @param from, to  registers; may have stride 0
  void (*join_lanes)(const LaneView& view, KernelRegister from, KernelRegister to);
  /// `to` = `from` in all lanes of the view and perhaps others.
  void (*copy_lanes)(const LaneView& view, const LaneWord* from, std::uint8_t from_stride, LaneWord* to);
  /// Makes a register of stride 0 one of stride 1.
  void (*spread_lanes)(const LaneView& view, KernelRegister id);
  /// Of the active lanes those where `condition` (stride 1) is true, and the others. @param yes, no  masks; `yes` may
  /// be the active one
  LaneSplit (*split_lanes)(const LaneView& view, const LaneWord* condition, LaneWord* yes, LaneWord* no);
  /// Whether a result is NaN in an active lane though `x` and `y` are not. All of stride 1.
  bool (*has_new_nan)(const LaneView& view, const LaneWord* x, const LaneWord* y, const LaneWord* result);
};

/// @pre this processor can do what that one can
const LaneOperations& lane_operations(math::Processor processor);

}  // namespace raddle::vm
