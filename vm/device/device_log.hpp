#pragma once
// What devices have done, and when: for pictures, and for the record of runs.
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "vm/device/device_traffic.hpp"
#include "vm/value/failure.hpp"

namespace raddle::vm {

/// A batch of points or a bundle of calls, or what was copied for it one way. Of calls of one bundle, which are told
/// one by one, one comes of all.
struct DeviceSpan {
  unsigned device = 0;  ///< index of Devices::facts()
  DeviceLane lane = DeviceLane::computes;
  std::int64_t start_ns = 0;  ///< on the steady clock
  std::int64_t duration_ns = 0;
  std::string function;        ///< of the script, for which it was done
  Place place;                 ///< of the loop or call; none: `end` is 0
  std::uint64_t computed = 0;  ///< points or calls
  std::uint64_t bytes = 0;     ///< that were copied
  std::uint64_t held = 0;      ///< DeviceTraffic::most_held
};

/// One for a run, or for all points of a sweep. It keeps some ten thousand spans at most: when there are more, those of
/// a device's lane that begin in the same part of the time become one, with the words of the longest. Threads: any.
class DeviceLog {
 public:
  static constexpr std::size_t usual_most = 20'000;
  explicit DeviceLog(std::size_t most = usual_most) : most_(most) {}
  void add(const DeviceSpan& span);
  /// By device, then by lane, then by their starts.
  std::vector<DeviceSpan> spans() const;

 private:
  /// Device, lane, start or part, duration, place.
  using Key = std::tuple<unsigned, DeviceLane, std::int64_t, std::int64_t, Place>;
  struct Kept {
    DeviceSpan span;
    std::int64_t longest_ns = 0;
  };
  void put(const Kept& kept);
  void join();

  const std::size_t most_;
  mutable std::mutex mutex_;  ///< guards all below
  std::map<Key, Kept> kept_;
  std::int64_t part_ns_ = 0;  ///< 0: each has its own place
};

}  // namespace raddle::vm
