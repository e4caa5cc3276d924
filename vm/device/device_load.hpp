#pragma once
// How much devices have been given and not done yet.
#include <atomic>
#include <cstdint>

#include "vm/device/devices.hpp"

namespace raddle::vm {

/// Counted in waves: a batch of fewer points than the kernel has lanes is a part of one, a larger one is one, since it
/// keeps a device busy. Threads: any. Both words are hints for is_below(), relaxed: who gives one batch too many makes
/// it wait.
class DeviceLoad {
 public:
  void begin(const DeviceBatch& batch) {
    parts_.fetch_add(parts_of(batch), std::memory_order_relaxed);
    batches_.fetch_add(1, std::memory_order_relaxed);
  }
  void end(const DeviceBatch& batch) {
    parts_.fetch_sub(parts_of(batch), std::memory_order_relaxed);
    batches_.fetch_sub(1, std::memory_order_relaxed);
  }
  /// On average each of the devices has less than two waves, and fewer batches than it takes up at once.
  bool is_below(unsigned devices, unsigned batches_at_once) const {
    return parts_.load(std::memory_order_relaxed) < 2 * parts_of_wave * devices &&
           batches_.load(std::memory_order_relaxed) < std::int64_t{batches_at_once} * devices;
  }

 private:
  static constexpr std::int64_t parts_of_wave = 1024;
  static std::int64_t parts_of(const DeviceBatch& batch) {
    const std::int64_t lanes = batch.kernel->lanes;
    return batch.count() >= lanes ? parts_of_wave : batch.count() * parts_of_wave / lanes;
  }

  std::atomic<std::int64_t> parts_{0}, batches_{0};
};

}  // namespace raddle::vm
