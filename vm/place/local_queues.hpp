#pragma once
// Locality work stealing: a queue for each device, in the order of priorities.
#include <set>

#include "vm/place/policy.hpp"
#include "vm/place/urgency.hpp"

namespace raddle::vm {

/// A task goes to the device that has released it; those of the start go round. Who has none steals the last one of the
/// next device that has some.
class LocalQueues final : public Policy {
 public:
  explicit LocalQueues(const PlacementView& view) : Policy(view), queues_(view.residency.device_count()) {}
  void released(std::span<const TaskId> tasks, std::optional<DeviceId> by, std::int64_t now_ns) override;
  std::optional<TaskId> next(DeviceId device) override;

 private:
  std::vector<std::set<Urgency>> queues_;
  DeviceId next_at_start_ = 0;
};

}  // namespace raddle::vm
