#pragma once
// Runs leaf code for many points of an index launch at once: a register has a lane for each of them.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "vm/program/program.hpp"
#include "vm/value/element_table.hpp"

namespace raddle::vm {

/// Registers of one worker, for leaf code that neither branches nor calls functions of the script
/// (LeafCode::batch_cost). What it costs to look at an instruction is shared by all points, and the processor's vectors
/// compute several of them at once, so that a point takes a nanosecond or two without machine code, where it takes a
/// hundred by itself. Source: Boncz, Zukowski, Nes, "MonetDB/X100: Hyper-Pipelining Query Execution" (CIDR 2005),
/// section 4.
class LaneMachine {
 public:
  static constexpr std::int64_t most_points = NumberChunk::size;

  /// @param settings  must outlive this
  explicit LaneMachine(const RunSettings& settings) : settings_(settings) {}

  /// @param code       has a batch_cost; until the last call of run()
  /// @param arguments  words of its parameters as in leaf_abi.hpp, the same for all points but for the first one
  void prepare(const LeafCode& code, std::span<const std::int64_t> arguments);
  /// Computes the points first, first + step, ...
  /// @param count    1 to most_points
  /// @param results  for each output where its elements go, as many as points: int64_t, double, or uint8_t for boolean
  /// @return false: some point does not end well; results mean nothing
  bool run(std::int64_t first, std::int64_t step, std::int64_t count, std::span<const LeafType> types,
           std::span<void* const> results);

 private:
  struct FreeAligned {
    void operator()(std::int64_t* registers) const { ::operator delete[](registers, std::align_val_t{64}); }
  };
  std::int64_t* lanes(std::size_t word) const { return registers_.get() + word * most_points; }
  bool call_library(const LeafLibraryCode& site, std::int64_t count);
  /// Of all lanes at once. @return false: some point has no result
  bool call_mathematics(const LeafLibraryCode& site, std::size_t vectors);

  const RunSettings& settings_;
  const LeafCode* code_ = nullptr;
  std::unique_ptr<std::int64_t[], FreeAligned> registers_;
  std::size_t register_count_ = 0;
  std::vector<Value> arguments_;  ///< of a function of the library
};

}  // namespace raddle::vm
