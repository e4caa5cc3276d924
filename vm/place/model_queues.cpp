#include "vm/place/model_queues.hpp"

#include <algorithm>
#include <tuple>

namespace raddle::vm {

std::int64_t ModelQueues::end_ns(DeviceId device, const PlacedTask& task, std::int64_t now_ns) const {
  std::int64_t end = std::max(now_ns, ends_ns_[device]) + task.duration_ns;
  for (const DataId data : task.reads())
    if (!residency().is_near(device, data)) end += residency().transfer_ns(data, device);
  return end;
}

void ModelQueues::released(std::span<const TaskId> tasks, std::optional<DeviceId>, std::int64_t now_ns) {
  for (const TaskId id : tasks) {
    DeviceId best = 0;
    std::int64_t best_end = end_ns(0, task(id), now_ns);
    for (DeviceId device = 1; device < queues_.size(); ++device) {
      const std::int64_t end = end_ns(device, task(id), now_ns);
      if (end < best_end) std::tie(best, best_end) = std::pair(device, end);
    }
    ends_ns_[best] = best_end;
    insert(queues_[best], id);
  }
}

void ModelQueues::insert(std::vector<Urgency>& queue, TaskId id) {
  Urgency urgency = urgency_of(id, task(id));
  if (order_ == Order::arrival) urgency.priority = 0;
  queue.insert(std::ranges::lower_bound(queue, urgency), urgency);
}

std::int64_t ModelQueues::missing_bytes(DeviceId device, const PlacedTask& task) const {
  std::int64_t missing = 0;
  for (const DataId data : task.reads())
    if (!residency().is_near(device, data)) missing += residency().bytes(data);
  return missing;
}

std::optional<TaskId> ModelQueues::next(DeviceId device) {
  std::vector<Urgency>& queue = queues_[device];
  if (queue.empty()) return std::nullopt;
  auto best = queue.begin();
  std::int64_t least = missing_bytes(device, task(best->id));
  for (auto other = best + 1; other != queue.end() && least != 0; ++other) {
    if (order_ == Order::highest_only && other->priority != best->priority) break;
    const std::int64_t missing = missing_bytes(device, task(other->id));
    if (missing < least) std::tie(best, least) = std::pair(other, missing);
  }
  const TaskId id = best->id;
  queue.erase(best);
  return id;
}

}  // namespace raddle::vm
