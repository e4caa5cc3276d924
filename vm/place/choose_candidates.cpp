// Which datum a device loads next.
#include <algorithm>
#include <utility>

#include "vm/place/candidates.hpp"

namespace raddle::vm {

std::vector<TaskId> Candidates::take_next(DeviceId device) {
  std::vector<TaskId> taken = free_tasks(device);
  if (taken.empty() && !devices_[device].grouped[alone].empty()) {
    taken = members(device, best(device, alone), alone);
  } else if (taken.empty() && !devices_[device].grouped[with_another].empty()) {
    const std::vector<TaskId> nearly = members(device, best(device, with_another), with_another);
    taken = {*std::ranges::min_element(nearly, {}, [&](TaskId id) { return urgency_of(id, tasks_[id]); })};
  } else if (taken.empty()) {
    taken = {by_urgency_.begin()->id};
  }
  for (const TaskId id : taken) remove(id);
  return taken;
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
  if (one.work_ns == 0 || other.work_ns == 0) {
    if (const auto works = (one.work_ns != 0) <=> (other.work_ns != 0); works != 0) return works;
  } else if (rank_ == Rank::ratio) {
    const auto one_ratio = __int128{residency_.transfer_ns(left, device)} * other.work_ns;
    const auto other_ratio = __int128{residency_.transfer_ns(right, device)} * one.work_ns;
    if (one_ratio != other_ratio)
      return one_ratio < other_ratio ? std::strong_ordering::greater : std::strong_ordering::less;
  }
  if (rank_ == Rank::count_of_short && one.count == other.count) return other.work_ns <=> one.work_ns;
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
