#pragma once
// Ready tasks, and what each datum that a device could load next would do for them.
#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "vm/place/placed_task.hpp"
#include "vm/place/residency.hpp"
#include "vm/place/urgency.hpp"

namespace raddle::vm {

/// For each device and each datum that is not near it: the ready tasks that miss this datum alone, and those that miss
/// it and one more. Kept up as tasks and data come and go, so that a choice looks at data, never at all ready tasks.
/// Threads: one.
/// Source: Gonthier, Thibault, Marchal 2024, Algorithm 3: the tasks of one missing datum are its S0, those of two its
/// S1
class Candidates {
 public:
  enum class Rank : std::uint8_t {
    ratio,          ///< least transfer time for the work of S0, as printed
    count,          ///< most tasks in S0
    time_per_task,  ///< least transfer time for each task of S0; of as much those that take least: others wait for
                    ///< short kernels, as those of panels
  };
  Candidates(const PlacedTasks& tasks, const Residency& residency, Rank rank);

  /// There is one more datum.
  void added(DataId data);
  std::size_t count() const { return by_urgency_.size(); }                             ///< of ready tasks
  std::span<const TaskId> readers(DataId data) const { return readers_[data].ready; }  ///< ready tasks, as added
  void add(TaskId id);
  /// Residency::near has changed.
  void came(DeviceId device, DataId data);
  void went(DeviceId device, DataId data);

  // Takes ready tasks, in the order in which they were added.
  /// All that miss nothing.
  std::vector<TaskId> take_free(DeviceId device);
  /// Those that miss only this datum.
  std::vector<TaskId> take_missing(DeviceId device, DataId data);
  /// Those that the device is to run next: all that miss nothing; else those that miss only the best datum; else the
  /// most urgent one that misses it and another one; else the most urgent one. @pre count() != 0
  std::vector<TaskId> take_next(DeviceId device);

 private:
  enum Which : std::uint8_t { alone, with_another };
  /// Tasks that miss the same datum of one device, and as many others.
  struct Group {
    std::int64_t work_ns = 0;
    std::uint32_t count = 0;
    std::uint32_t position = 0;     ///< in Device::grouped
    std::int32_t top_priority = 0;  ///< of its tasks
    bool is_top_known = false;      ///< else it is looked for when it is asked for
  };
  struct Device {
    std::vector<Group> groups[2];    ///< of both kinds, by datum
    std::vector<DataId> grouped[2];  ///< data whose group is not empty
    std::vector<TaskId> free;        ///< all that miss nothing, and some that no longer do or are not ready
  };
  std::uint16_t& missing_count(DeviceId device, TaskId id) { return missing_counts_[id * devices_.size() + device]; }
  bool is_ready(TaskId id) const { return orders_[id] != 0; }

  // candidates.cpp
  void make_room_for(TaskId id);
  void remove(TaskId id);
  void join(DeviceId device, DataId data, Which which, const PlacedTask& task);
  void leave(DeviceId device, DataId data, Which which, const PlacedTask& task);
  void regroup_others(DeviceId device, TaskId id, DataId data, unsigned before, unsigned after);

  // choose_candidates.cpp
  std::vector<TaskId> free_tasks(DeviceId device);
  std::vector<TaskId> taken(std::vector<TaskId> tasks);
  std::vector<TaskId> members(DeviceId device, DataId data, Which which);
  DataId best(DeviceId device, Which which);
  bool is_better(DeviceId device, DataId left, DataId right, Which which);
  std::strong_ordering compare_gains(DeviceId device, DataId left, DataId right) const;
  bool appears_before(DataId left, DataId right) const;
  std::int32_t top_priority(DeviceId device, DataId data, Which which);

  const PlacedTasks& tasks_;
  const Residency& residency_;
  const Rank rank_;
  std::vector<Device> devices_;
  std::vector<std::uint64_t> orders_;          ///< by task: the how many-th add() it was; 0: not ready
  std::vector<std::uint16_t> missing_counts_;  ///< by task and device
  struct Readers {
    std::vector<TaskId> ready;  ///< as they were added
    std::int64_t work_ns = 0;   ///< of all of them
  };
  std::vector<Readers> readers_;  ///< by datum
  std::set<Urgency> by_urgency_;
  std::uint64_t added_ = 0;
};

}  // namespace raddle::vm
