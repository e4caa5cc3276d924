#pragma once
// Data first: a device takes the datum that allows most work, then the tasks that need nothing else.
#include <deque>
#include <set>

#include "vm/place/candidates.hpp"
#include "vm/place/policy.hpp"

namespace raddle::vm {

/// Each device has a plan: tasks that were chosen together with a datum, which nobody else gets. What it evicts is used
/// by as few tasks of the plan as can be, and none of its buffer's if there is a choice; tasks of the plan that lose a
/// datum are ready again.
/// Source: the same paper, Algorithm 3 and section 5.4; what it leaves open is as in StarPU
class Darts final : public Policy {
 public:
  /// What it makes of the tasks that nobody has got yet, those that are not released among them.
  enum class Foresight : std::uint8_t {
    none,
    known_tasks,  ///< first evicts what none of them touches; of data that are planned as often, what is touched last
                  ///< in their order, if few are ready. One device alone loads what finishes a datum, if that fits
  };
  Darts(const PlacementView& view, Candidates::Rank rank, Foresight foresight);
  void added(DataId data) override;
  void expected(DataId data, std::uint64_t order) override { uses_ahead_[data].insert(order); }
  void unexpected(DataId data, std::uint64_t order) override { uses_ahead_[data].erase(order); }
  void released(std::span<const TaskId> tasks, std::optional<DeviceId> by, std::int64_t now_ns) override;
  std::optional<TaskId> next(DeviceId device) override;
  std::optional<DataId> victim(DeviceId device, LoadKind load) override;
  void came(DeviceId device, DataId data) override { candidates_.came(device, data); }
  void went(DeviceId device, DataId data) override { candidates_.went(device, data); }
  void dropped(DeviceId device, DataId data) override;

 private:
  std::optional<DeviceId> device_that_has_inputs(const PlacedTask& task) const;
  bool misses_nothing(DeviceId device, const PlacedTask& task) const;
  void plan(DeviceId device, TaskId id, std::deque<TaskId>::iterator before);
  std::vector<TaskId> choose(DeviceId device);
  struct Missing {
    DataId finished = no_datum;  ///< its tasks miss
    DataId first = no_datum;     ///< this datum and others,
    std::int64_t bytes = 0;      ///< so much together
  };
  std::optional<DataId> what_finishes(DeviceId device);
  std::optional<Missing> missing_to_finish(DeviceId device, DataId finished) const;
  bool goes_before(DeviceId device, DataId one, DataId other, bool is_in_order) const;
  void forget_uses(DeviceId device, const PlacedTask& task);
  std::optional<DataId> latest_in_buffer(DeviceId device) const;

  const Foresight foresight_;
  Candidates candidates_;
  std::vector<std::deque<TaskId>> plans_;                 ///< by device
  std::vector<std::vector<std::uint32_t>> planned_uses_;  ///< by device and datum: tasks of the plan
  std::vector<DeviceSet> planned_for_;                    ///< by datum: where there are such uses
  DataId finished_ = no_datum;                            ///< what it loads what is missing to
  std::vector<std::set<std::uint64_t>> uses_ahead_;       ///< by datum: orders of tasks that no device has got
};

}  // namespace raddle::vm
