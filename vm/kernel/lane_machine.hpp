#pragma once
// Runs kernels for many points of an index launch at once: a register has a lane for each of them.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "vm/kernel/kernel_scalars.hpp"
#include "vm/kernel/lane_operations.hpp"
#include "vm/math/lane_functions.hpp"
#include "vm/program/program.hpp"
#include "vm/value/element_table.hpp"

namespace raddle::vm {

/// Note [lanes]. What it costs to look at an operation is shared by all points, and the processor's vectors compute
/// several of them at once, so that a point takes a nanosecond or two without machine code, where it takes a hundred by
/// itself. Where points part, each side of a branch is run with a mask of the lanes that take it, and not at all if
/// none does; loops go on until no lane is in them. Lanes outside of the mask compute what they like, as nothing reads
/// it: only what several branches assign, and variables of loops, keep the values of lanes that are not in the mask.
/// Vectors at both ends that no lane of the mask is in are left out. What is the same for all lanes is computed once.
/// Registers of a kernel that is called lie behind its caller's.
/// Sources: Boncz, Zukowski, Nes, "MonetDB/X100: Hyper-Pipelining Query Execution" (CIDR 2005), section 4; Pharr, Mark,
/// "ispc: A SPMD Compiler for High-Performance CPU Programming" (InPar 2012), section 3.

/// Registers of one worker.
class LaneMachine {
 public:
  static constexpr std::int64_t most_points = NumberChunk::size;

  enum class Outcome : std::uint8_t {
    done,
    failed,   ///< some point does not end well; results mean nothing
    stopped,  ///< goes_on() was false; likewise
  };

  /// @param program  must outlive this
  explicit LaneMachine(const Program& program) : program_(program) {}

  /// @param kernel     has lane code
  /// @param arguments  words of its parameters as in leaf_abi.hpp, the same for all points but for the first one
  void prepare(FunctionId kernel, std::span<const std::int64_t> arguments);
  /// Computes the points first, first + step, ...
  /// @param count    1 to most_points
  /// @param results  for each output where its elements go, as many as points: int64_t, double, or uint8_t for boolean
  /// @param goes_on  asked now and then by loops
  Outcome run(std::int64_t first, std::int64_t step, std::int64_t count, std::span<void* const> results,
              const std::function<bool()>& goes_on);

 private:
  /// A kernel's registers.
  struct Activation {
    const Kernel& kernel;
    const LaneCode& code;
    KernelRegister base;  ///< of its first one
  };

  bool block(const Activation& now, KernelBlockId id, const LaneView& view);
  bool control(const Activation& now, const KernelInstruction& in, const LaneView& view);
  bool mathematics(const KernelInstruction& in, const LaneView& view);
  bool branch(const Activation& now, const KernelInstruction& in, const LaneView& view);
  bool loop(const Activation& now, const KernelLoop& loop, const LaneView& view);
  void take_over(const Activation& now, const std::vector<KernelRegister>& from, const std::vector<KernelRegister>& to,
                 const LaneView& view, bool joins);
  bool call(const Activation& now, const KernelCall& call, const LaneView& view);
  void set_constants(const Activation& now);
  LaneView view_of(const Activation& now, const LaneView& view);
  LaneWord* mask(std::size_t depth);

  struct FreeAligned {
    void operator()(LaneWord* words) const { ::operator delete[](words, std::align_val_t{64}); }
  };
  using Lanes = std::unique_ptr<LaneWord[], FreeAligned>;
  static Lanes make_lanes(std::size_t registers);

  const Program& program_;
  const LaneOperations& operations_ = lane_operations(math::this_processor());
  std::span<const math::LaneFunction> mathematics_ = math::lane_functions();
  FunctionId kernel_ = no_id;
  Lanes registers_;
  std::size_t register_count_ = 0;
  std::vector<std::uint8_t> strides_;         ///< by register: 0 if it has the same value for all lanes, in the first
  std::vector<KernelScalars::Array> arrays_;  ///< by register
  std::vector<Lanes> masks_;
  std::size_t mask_depth_ = 0;  ///< masks that are in use
  const std::function<bool()>* goes_on_ = nullptr;
  unsigned patience_ = 0;  ///< rounds of loops until it is asked
  bool is_stopped_ = false;
};

}  // namespace raddle::vm
