#include "vm/place/local_queues.hpp"

#include <iterator>

namespace raddle::vm {

void LocalQueues::released(std::span<const TaskId> tasks, std::optional<DeviceId> by, std::int64_t) {
  for (const TaskId id : tasks) {
    const DeviceId device = by ? *by : next_at_start_;
    if (!by) next_at_start_ = (next_at_start_ + 1) % static_cast<DeviceId>(queues_.size());
    queues_[device].insert(urgency_of(id, task(id)));
  }
}

std::optional<TaskId> LocalQueues::next(DeviceId device) {
  for (std::size_t step = 0; step < queues_.size(); ++step) {
    std::set<Urgency>& queue = queues_[(device + step) % queues_.size()];
    if (queue.empty()) continue;
    const auto taken = step == 0 ? queue.begin() : std::prev(queue.end());
    const TaskId id = taken->id;
    queue.erase(taken);
    return id;
  }
  return std::nullopt;
}

}  // namespace raddle::vm
