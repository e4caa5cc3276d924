#pragma once
// What crosses the links of devices, for which arrays, and when.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "vm/value/failure.hpp"

namespace raddle::vm {

/// Of arrays that were declared at one place: how often one of them, or a part of it, was brought to memory, written
/// back from there, forgotten there for want of room.
struct ArrayTraffic {
  Place array;  ///< `end` is 0: it is not known
  std::uint64_t loads = 0, bytes_loaded = 0;
  std::uint64_t write_backs = 0, bytes_written = 0;
  std::uint64_t evictions = 0;
};

/// By array. There are few: as many as variables of the script.
class ArrayTraffics {
 public:
  ArrayTraffic& of(const Place& array) {
    const auto found = std::ranges::lower_bound(all_, array, {}, &ArrayTraffic::array);
    return found != all_.end() && found->array == array ? *found : *all_.insert(found, {.array = array});
  }
  ArrayTraffics& operator+=(const ArrayTraffics& other) {
    for (const ArrayTraffic& each : other.all_) {
      ArrayTraffic& own = of(each.array);
      own.loads += each.loads, own.bytes_loaded += each.bytes_loaded;
      own.write_backs += each.write_backs, own.bytes_written += each.bytes_written;
      own.evictions += each.evictions;
    }
    return *this;
  }
  void note_load(const Place& array, std::uint64_t bytes) {
    ArrayTraffic& one = of(array);
    ++one.loads, one.bytes_loaded += bytes;
  }
  void note_write_back(const Place& array, std::uint64_t bytes) {
    ArrayTraffic& one = of(array);
    ++one.write_backs, one.bytes_written += bytes;
  }
  const std::vector<ArrayTraffic>& all() const { return all_; }  ///< in the order of their places

 private:
  std::vector<ArrayTraffic> all_;
};

/// What has crossed the bus between host and device, or need not.
struct DeviceTraffic {
  std::uint64_t bytes_up = 0, bytes_down = 0;  ///< to the device, and from it
  std::uint64_t bytes_kept = 0;                ///< that were read, and were there already
  std::uint64_t bytes_between = 0;             ///< from other devices
  std::uint64_t bytes_ahead = 0;  ///< of these and bytes_up: before what reads them was given to the device
  std::uint64_t evictions = 0;    ///< of what lay there, for want of room
  std::uint64_t most_held = 0;    ///< bytes of the device's memory that were taken at one time
  ArrayTraffics arrays{};         ///< all but what is too small to go by itself
  DeviceTraffic& operator+=(const DeviceTraffic& other) {
    bytes_up += other.bytes_up, bytes_down += other.bytes_down;
    bytes_kept += other.bytes_kept, bytes_between += other.bytes_between;
    bytes_ahead += other.bytes_ahead, evictions += other.evictions;
    most_held = std::max(most_held, other.most_held);
    arrays += other.arrays;
    return *this;
  }
};

/// What a device does, or one of its links. They work beside each other.
enum class DeviceLane : std::uint8_t { computes, from_host, to_host, from_devices };

/// Bytes that go one way together.
struct DeviceTransfer {
  DeviceLane lane = DeviceLane::from_host;
  std::int64_t start_ns = 0, duration_ns = 0;  ///< as DeviceOutcome has times
  std::uint64_t bytes = 0;
};

}  // namespace raddle::vm
