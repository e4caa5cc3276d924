// Which datum a device loads next.
#include <algorithm>
#include <utility>

#include "vm/place/candidates.hpp"

namespace raddle::vm {

std::vector<TaskId> Candidates::taken(std::vector<TaskId> tasks) {
  for (const TaskId id : tasks) remove(id);
  return tasks;
}

std::vector<TaskId> Candidates::take_free(DeviceId device) { return taken(free_tasks(device)); }

std::vector<TaskId> Candidates::take_missing(DeviceId device, DataId data) {
  return taken(members(device, data, alone));
}

std::vector<TaskId> Candidates::take_next(DeviceId device) {
  if (std::vector<TaskId> free = take_free(device); !free.empty()) return free;
  if (!devices_[device].grouped[alone].empty()) return take_missing(device, best(device, alone));
  if (devices_[device].grouped[with_another].empty()) return taken({by_urgency_.begin()->id});
  const std::vector<TaskId> nearly = members(device, best(device, with_another), with_another);
  return taken({*std::ranges::min_element(nearly, {}, [&](TaskId id) { return urgency_of(id, tasks_[id]); })});
}

std::vector<TaskId> Candidates::free_tasks(DeviceId device) {
  std::vector<TaskId> free = std::exchange(devices_[device].free, {});
  std::erase_if(free, [&](TaskId id) { return !is_ready(id) || missing_count(device, id) != 0; });
  std::ranges::sort(free, {}, [&](TaskId id) { return orders_[id]; });
  const auto again = std::ranges::unique(free);
  free.erase(again.begin(), again.end());
  return free;
}

std::vector<TaskId> Candidates::members(DeviceId device, DataId data, Which which) {
  std::vector<TaskId> found;
  for (const TaskId id : readers_[data].ready)
    if (missing_count(device, id) == which + 1u) found.push_back(id);
  return found;
}

DataId Candidates::best(DeviceId device, Which which) {
  const std::vector<DataId>& grouped = devices_[device].grouped[which];
  DataId best = grouped.front();
  for (const DataId data : grouped)
    if (data != best && is_better(device, data, best, which)) best = data;
  return best;
}

/// By what S0 gives, then by the most urgent task of the group, the tasks of S1, the work of all that miss the datum,
/// and by who was ready first.
bool Candidates::is_better(DeviceId device, DataId left, DataId right, Which which) {
  if (which == alone)
    if (const auto gains = compare_gains(device, left, right); gains != 0) return gains > 0;
  const std::int32_t left_top = top_priority(device, left, which), right_top = top_priority(device, right, which);
  if (left_top != right_top) return left_top > right_top;
  const std::vector<Group>& nearly = devices_[device].groups[with_another];
  if (nearly[left].count != nearly[right].count) return nearly[left].count > nearly[right].count;
  if (readers_[left].work_ns != readers_[right].work_ns) return readers_[left].work_ns > readers_[right].work_ns;
  return appears_before(left, right);
}

/// Greater is better. Tasks that take no time are worth less than any others.
std::strong_ordering Candidates::compare_gains(DeviceId device, DataId left, DataId right) const {
  const Group &one = devices_[device].groups[alone][left], &other = devices_[device].groups[alone][right];
  const auto more_for_its_time = [&](std::int64_t of_one, std::int64_t of_other) {
    return __int128{residency_.transfer_ns(right, device)} * of_one <=>
           __int128{residency_.transfer_ns(left, device)} * of_other;
  };
  if (one.work_ns == 0 || other.work_ns == 0) {
    if (const auto works = (one.work_ns != 0) <=> (other.work_ns != 0); works != 0) return works;
  } else if (rank_ == Rank::ratio) {
    if (const auto gains = more_for_its_time(one.work_ns, other.work_ns); gains != 0) return gains;
  } else if (rank_ == Rank::time_per_task) {
    if (const auto gains = more_for_its_time(one.count, other.count); gains != 0) return gains;
    if (one.count == other.count) return other.work_ns <=> one.work_ns;
  }
  return one.count <=> other.count;
}

/// Among what ready tasks miss, in the order of these.
bool Candidates::appears_before(DataId left, DataId right) const {
  const TaskId one = readers_[left].ready.front(), other = readers_[right].ready.front();
  if (one != other) return orders_[one] < orders_[other];
  const std::span<const DataId> reads = tasks_[one].reads();
  return std::ranges::find(reads, left) < std::ranges::find(reads, right);
}

std::int32_t Candidates::top_priority(DeviceId device, DataId data, Which which) {
  Group& group = devices_[device].groups[which][data];
  if (group.is_top_known) return group.top_priority;
  bool is_first = true;
  for (const TaskId id : readers_[data].ready) {
    if (missing_count(device, id) != which + 1u) continue;
    group.top_priority = is_first ? tasks_[id].priority : std::max(group.top_priority, tasks_[id].priority);
    is_first = false;
  }
  group.is_top_known = true;
  return group.top_priority;
}

}  // namespace raddle::vm
