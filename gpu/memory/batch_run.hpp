#pragma once
// Batches on a card that has memory of its own.
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <span>
#include <vector>

#include "gpu/memory/card_memory.hpp"
#include "gpu/memory/copy_engine.hpp"
#include "vm/device/devices.hpp"

namespace raddle::gpu {

struct BatchRun {
  std::int64_t made = 0;  ///< of how many points, from the first one on
  int error = 0;          ///< why no more, if it is no point that does not end well: as CardMemory::admit() has it
  vm::DeviceTraffic traffic{};
  std::int64_t ready_ns = 0;  ///< as CardMemory::Hold has it
  // as DeviceOutcome has them
  std::int64_t computing_start_ns = 0, computing_ns = 0;
  std::vector<vm::DeviceTransfer> transfers{};
};

/// Computes points whose words have addresses on the card.
/// @param least  where on the card there is room for a word
/// @return made: of how many points  @error  an error's number
using ComputePoints = std::function<std::expected<std::int64_t, int>(
    const vm::DeviceBatch& batch, std::vector<std::int64_t> words, std::uint64_t least)>;

/// Has the card compute the batch: by halves, one after the other, if it has no room for all of it at once.
BatchRun run_batch(const vm::DeviceBatch& batch, CardMemory& memory, CopyEngine& engine, const ComputePoints& compute);

/// A part of an array: bytes behind its first one.
struct ByteRange {
  std::size_t begin = 0, end = 0;
  bool operator==(const ByteRange&) const = default;
};

/// What points of the batch may read of an array. @param array  its number among those of the batch
ByteRange bytes_read(const vm::DeviceBatch& batch, std::size_t array);

/// What points of the batch may read, of each array, in their order.
std::vector<Operand> operands_read(const vm::DeviceBatch& batch);

/// They have come back. @param made  bytes of each
void note_results(std::span<const Operand> results, std::span<const std::size_t> made, vm::DeviceTraffic& traffic);

/// What is to be found on the card again, if the buffer is known.
Operand operand_of(std::uint64_t address, const vm::AddressedMemory& memory);

}  // namespace raddle::gpu
