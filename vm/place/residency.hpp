#pragma once
// Where the copies of data are, and what they are there for.
#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "vm/place/links.hpp"
#include "vm/place/placed_task.hpp"

namespace raddle::vm {

class Policy;

/// A bit for each device.
using DeviceSet = std::uint64_t;
constexpr unsigned most_devices = 64;
constexpr DeviceSet set_of(DeviceId device) { return DeviceSet{1} << device; }

enum class CopyState : std::uint8_t {
  none,
  loading,
  valid,
  allocated,  ///< room for a result that is not there yet
};

/// From where a device gets a datum.
struct Source {
  std::int64_t transfer_ns = 0;
  std::optional<DeviceId> device;  ///< none: the host
};

/// Copies in the memories of devices and of the host, and the tasks whose operands each device was asked to hold: those
/// that it takes next, its task buffer. It decides nothing. Whoever moves data tells it, and it tells the policy.
///
/// At first the host has everything. A copy is pinned while a task runs on it or another device or the host copies it.
/// Threads: one.
class Residency {
 public:
  /// @param bytes  of each datum  @param devices  1..most_devices  @param memory_bytes  of each device
  Residency(const std::vector<std::int64_t>& bytes, unsigned devices, std::int64_t memory_bytes, const Links& links);
  /// Who is told what comes and goes; it outlives this. None at first.
  void set_policy(Policy& policy) { policy_ = &policy; }
  /// One more datum, whose id is data_count() so far.
  DataId add(std::int64_t bytes);
  /// Another datum in the place of one that no task touches any more.
  void replace(DataId data, std::int64_t bytes);

  unsigned device_count() const { return static_cast<unsigned>(devices_.size()); }
  std::size_t data_count() const { return data_.size(); }
  std::int64_t bytes(DataId data) const { return data_[data].bytes; }
  CopyState state(DeviceId device, DataId data) const { return copy(device, data).state; }
  bool is_present(DeviceId device, DataId data) const { return state(device, data) != CopyState::none; }
  bool is_requested(DeviceId device, DataId data) const { return copy(device, data).requests != 0; }
  /// Where it is present, on its way, or an operand of a task in the buffer.
  DeviceSet near(DataId data) const { return data_[data].near; }
  bool is_near(DeviceId device, DataId data) const { return (near(data) & set_of(device)) != 0; }
  bool is_on_host(DataId data) const { return data_[data].is_on_host; }
  bool is_written_back(DeviceId device, DataId data) const { return copy(device, data).is_written_back; }
  /// The device with the only valid copy.
  std::optional<DeviceId> owner(DataId data) const;
  std::span<const TaskId> task_buffer(DeviceId device) const { return devices_[device].buffer; }

  /// The fastest one; the host before devices, these in order. None while only a device has it and there are no links
  /// between devices, or the copy is on its way.
  std::optional<Source> source(DataId data, DeviceId device) const;
  /// From the fastest source, or from its owner by way of the host. @pre the device has no valid copy
  std::int64_t transfer_ns(DataId data, DeviceId device) const;
  std::int64_t to_host_ns(DataId data) const { return data_[data].to_host_ns; }

  /// Copies that may be evicted, least recently used first. @return no_datum behind the last
  DataId first_evictable(DeviceId device) const { return evictable_from(device, devices_[device].lru.oldest); }
  DataId next_evictable(DeviceId device, DataId data) const { return evictable_from(device, copy(device, data).newer); }

  std::size_t copy_count(DeviceId device) const { return devices_[device].copy_count; }  ///< that are present
  /// What of the memory is taken, and what of that is free once it has been written back.
  std::int64_t used_bytes(DeviceId device) const { return devices_[device].used_bytes; }
  std::int64_t leaving_bytes(DeviceId device) const { return devices_[device].leaving_bytes; }
  std::int64_t memory_bytes() const { return memory_bytes_; }
  std::uint64_t unused_loads() const { return unused_loads_; }  ///< copies that went before a task has used them
  std::uint64_t dirty_copies() const;

  /// The task is the last one of the device's buffer.
  void request(DeviceId device, TaskId id, const PlacedTask& task);
  /// It was in the buffer, and runs.
  void start(DeviceId device, TaskId id, const PlacedTask& task);
  /// It has ended: what it has written is valid here, and nowhere else.
  void finish(DeviceId device, const PlacedTask& task);
  /// Takes memory. @pre not present
  void begin_load(DeviceId device, DataId data, const Source& source);
  void end_load(DeviceId device, DataId data, const Source& source);
  /// Takes memory for what is only written. @pre not present
  void allocate(DeviceId device, DataId data);
  /// Whether its eviction is a write-back: it was written here, and the host does not have that.
  bool is_dirty(DeviceId device, DataId data) const { return copy(device, data).is_dirty && !data_[data].is_on_host; }
  /// Frees memory at once. @pre !is_dirty()
  void drop(DeviceId device, DataId data);
  /// The copy is gone, its memory taken until the end.
  void begin_write_back(DeviceId device, DataId data);
  void end_write_back(DeviceId device, DataId data);
  /// The host gets what only the device has; the copy stays.
  void begin_copy_to_host(DeviceId device, DataId data);
  void end_copy_to_host(DeviceId device, DataId data);
  bool is_copied_to_host(DeviceId device, DataId data) const { return copy(device, data).is_copied_to_host; }

 private:
  struct Copy {
    CopyState state = CopyState::none;
    bool is_dirty = false, is_unused = false, is_written_back = false, is_copied_to_host = false, is_listed = false;
    std::uint16_t pins = 0, requests = 0;
    std::uint32_t version = 0;  ///< Datum::version when it was made
    DataId older = 0, newer = 0;
  };
  struct Datum {
    std::int64_t bytes = 0, to_device_ns = 0, to_host_ns = 0, between_ns = 0;
    DeviceSet near = 0, valid = 0;
    std::uint32_t version = 0;  ///< how often it was written
    bool is_on_host = true;     ///< a valid copy
  };
  struct Lru {
    DataId oldest = no_datum, newest = no_datum;
  };
  struct Device {
    std::vector<Copy> copies;
    Lru lru;
    std::vector<TaskId> buffer;
    std::size_t copy_count = 0;
    std::int64_t used_bytes = 0, leaving_bytes = 0;
  };
  const Copy& copy(DeviceId device, DataId data) const { return devices_[device].copies[data]; }
  Copy& copy(DeviceId device, DataId data) { return devices_[device].copies[data]; }
  Datum datum_of(std::int64_t bytes) const;
  DataId evictable_from(DeviceId device, DataId data) const;
  void set_state(DeviceId device, DataId data, CopyState state);
  void update_near(DeviceId device, DataId data);
  void use(DeviceId device, DataId data);  ///< it is the most recently used one
  void unlist(DeviceId device, DataId data);
  void forget(DeviceId device, DataId data);
  void write(DeviceId device, DataId data);

  std::vector<Datum> data_;
  std::vector<Device> devices_;
  const std::int64_t memory_bytes_;
  const Links links_;
  const bool has_peers_;
  std::uint64_t unused_loads_ = 0;
  Policy* policy_ = nullptr;
};

}  // namespace raddle::vm
