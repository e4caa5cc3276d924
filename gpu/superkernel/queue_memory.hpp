#pragma once
// Where the queues lie: one block of host memory and one of device memory.
#include <cstddef>
#include <cstdint>

#include "gpu/superkernel/queues.hpp"

namespace raddle::gpu::superkernel {

inline constexpr std::size_t line_bytes = 256;  ///< what one side polls has lines of its own
constexpr std::size_t whole_lines(std::size_t bytes) { return (bytes + line_bytes - 1) / line_bytes * line_bytes; }

/// Logarithms of sizes, to base 2.
struct QueueSizes {
  std::uint32_t descriptors_log2 = 0;  ///< tasks under way at most
  std::uint32_t shares_log2 = 0;       ///< warps that share a task at most
  std::uint32_t slots_log2 = 0;        ///< entries that ingest hands out before workers have taken them
  std::uint32_t ring_log2() const { return descriptors_log2 + shares_log2; }
};

/// The block of host memory.
class HostBlock {
 public:
  /// @param first  of all bytes 0 at first, aligned to a line
  HostBlock(const QueueSizes& sizes, std::byte* first) : sizes_(sizes), first_(first) {}
  static std::size_t size_bytes(const QueueSizes& sizes) {
    return completions_offset(sizes) + whole_lines(2 * sizeof(std::uint64_t) << sizes.descriptors_log2);
  }

  std::uint64_t* stop() const { return at<std::uint64_t>(0); }
  std::uint64_t* beat() const { return at<std::uint64_t>(line_bytes); }
  std::uint64_t* ended() const { return at<std::uint64_t>(2 * line_bytes); }
  std::uint64_t* ring() const { return at<std::uint64_t>(ring_offset); }
  Descriptor* descriptors() const { return at<Descriptor>(descriptors_offset(sizes_)); }
  std::uint64_t* completions() const { return at<std::uint64_t>(completions_offset(sizes_)); }

 private:
  static constexpr std::size_t ring_offset = 3 * line_bytes;
  static std::size_t descriptors_offset(const QueueSizes& sizes) {
    return ring_offset + whole_lines(sizeof(std::uint64_t) << sizes.ring_log2());
  }
  static std::size_t completions_offset(const QueueSizes& sizes) {
    return descriptors_offset(sizes) + whole_lines(sizeof(Descriptor) << sizes.descriptors_log2);
  }
  template <typename T>
  T* at(std::size_t offset) const {
    return reinterpret_cast<T*>(first_ + offset);
  }

  const QueueSizes sizes_;
  std::byte* const first_;
};

/// The block of device memory, and what is in it at first.
class DeviceBlock {
 public:
  /// @param first  address on the device, aligned to a line
  DeviceBlock(const QueueSizes& sizes, std::byte* first) : sizes_(sizes), first_(first) {}
  static std::size_t size_bytes(const QueueSizes& sizes) {
    return slots_offset(sizes) + whole_lines(sizeof(std::uint64_t) << sizes.slots_log2);
  }

  std::uint64_t* ticket() const { return at<std::uint64_t>(0); }
  std::uint64_t* completion_ticket() const { return at<std::uint64_t>(line_bytes); }
  Place* place() const { return at<Place>(2 * line_bytes); }
  Progress* progress() const { return at<Progress>(progress_offset); }
  std::uint64_t* slots() const { return at<std::uint64_t>(slots_offset(sizes_)); }
  /// For host memory that is the device's, or is copied to it. All bytes are 0 before.
  /// @param start  position at which all counts begin
  void write_first_values(std::uint64_t start) const {
    *ticket() = *completion_ticket() = start;
    *place() = {start, start};
    for (std::size_t i = 0; i < std::size_t{1} << sizes_.descriptors_log2; ++i) progress()[i] = Progress();
  }

 private:
  static constexpr std::size_t progress_offset = 3 * line_bytes;
  static std::size_t slots_offset(const QueueSizes& sizes) {
    return progress_offset + whole_lines(sizeof(Progress) << sizes.descriptors_log2);
  }
  template <typename T>
  T* at(std::size_t offset) const {
    return reinterpret_cast<T*>(first_ + offset);
  }

  const QueueSizes sizes_;
  std::byte* const first_;
};

/// As the device sees them; what concerns one launch is not filled.
/// @param host  at the address by which the device reads it
inline Queues queues_in(const QueueSizes& sizes, const HostBlock& host, const DeviceBlock& device) {
  Queues queues{};
  queues.ring = host.ring();
  queues.stop = host.stop();
  queues.beat = host.beat();
  queues.ended = host.ended();
  queues.descriptors = host.descriptors();
  queues.completions = host.completions();
  queues.slots = device.slots();
  queues.ticket = device.ticket();
  queues.completion_ticket = device.completion_ticket();
  queues.progress = device.progress();
  queues.place = device.place();
  queues.ring_log2 = sizes.ring_log2();
  queues.slots_log2 = sizes.slots_log2;
  queues.descriptors_log2 = sizes.descriptors_log2;
  return queues;
}

}  // namespace raddle::gpu::superkernel
