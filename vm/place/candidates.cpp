// Groups as tasks and data come and go.
#include "vm/place/candidates.hpp"

#include <algorithm>

namespace raddle::vm {

namespace {

bool has_groups(unsigned missing) { return missing == 1 || missing == 2; }

}  // namespace

Candidates::Candidates(const PlacedTasks& tasks, const Residency& residency, Rank rank)
    : tasks_(tasks),
      residency_(residency),
      rank_(rank),
      devices_(residency.device_count()),
      readers_(residency.data_count()) {
  for (Device& device : devices_)
    for (std::vector<Group>& groups : device.groups) groups.resize(residency.data_count());
}

void Candidates::added(DataId data) {
  readers_.resize(data + 1);
  for (Device& device : devices_)
    for (std::vector<Group>& groups : device.groups) groups.resize(data + 1);
}

void Candidates::make_room_for(TaskId id) {
  if (id < orders_.size()) return;
  orders_.resize(std::max<std::size_t>(id + 1, tasks_.size()));
  missing_counts_.resize(orders_.size() * devices_.size());
}

void Candidates::add(TaskId id) {
  make_room_for(id);
  const PlacedTask& task = tasks_[id];
  orders_[id] = ++added_;
  by_urgency_.insert(urgency_of(id, task));
  for (const DataId data : task.reads()) {
    readers_[data].ready.push_back(id);
    readers_[data].work_ns += task.duration_ns;
  }
  for (DeviceId device = 0; device < devices_.size(); ++device) {
    unsigned missing = 0;
    for (const DataId data : task.reads()) missing += residency_.is_near(device, data) ? 0 : 1;
    missing_count(device, id) = static_cast<std::uint16_t>(missing);
    if (missing == 0) devices_[device].free.push_back(id);
    if (!has_groups(missing)) continue;
    for (const DataId data : task.reads())
      if (!residency_.is_near(device, data)) join(device, data, Which(missing - 1), task);
  }
}

void Candidates::remove(TaskId id) {
  const PlacedTask& task = tasks_[id];
  orders_[id] = 0;
  by_urgency_.erase(urgency_of(id, task));
  for (const DataId data : task.reads()) {
    Readers& readers = readers_[data];
    readers.ready.erase(std::ranges::find(readers.ready, id));
    readers.work_ns -= task.duration_ns;
  }
  for (DeviceId device = 0; device < devices_.size(); ++device) {
    const unsigned missing = missing_count(device, id);
    if (!has_groups(missing)) continue;
    for (const DataId data : task.reads())
      if (!residency_.is_near(device, data)) leave(device, data, Which(missing - 1), task);
  }
}

void Candidates::came(DeviceId device, DataId data) {
  for (const TaskId id : readers_[data].ready) {
    const unsigned before = missing_count(device, id)--;
    if (has_groups(before)) leave(device, data, Which(before - 1), tasks_[id]);
    regroup_others(device, id, data, before, before - 1);
    if (before == 1) devices_[device].free.push_back(id);
  }
}

void Candidates::went(DeviceId device, DataId data) {
  for (const TaskId id : readers_[data].ready) {
    const unsigned before = missing_count(device, id)++;
    regroup_others(device, id, data, before, before + 1);
    if (has_groups(before + 1)) join(device, data, Which(before), tasks_[id]);
  }
}

/// The task missed `before` data, and misses `after`: those besides `data` are as many as the lesser of both.
void Candidates::regroup_others(DeviceId device, TaskId id, DataId data, unsigned before, unsigned after) {
  if (!has_groups(std::min(before, after))) return;
  for (const DataId other : tasks_[id].reads()) {
    if (other == data || residency_.is_near(device, other)) continue;
    if (has_groups(before)) leave(device, other, Which(before - 1), tasks_[id]);
    if (has_groups(after)) join(device, other, Which(after - 1), tasks_[id]);
  }
}

void Candidates::join(DeviceId device, DataId data, Which which, const PlacedTask& task) {
  Group& group = devices_[device].groups[which][data];
  std::vector<DataId>& grouped = devices_[device].grouped[which];
  if (group.count++ == 0) {
    group.position = static_cast<std::uint32_t>(grouped.size());
    group.top_priority = task.priority;
    group.is_top_known = true;
    grouped.push_back(data);
  }
  group.top_priority = std::max(group.top_priority, task.priority);
  group.work_ns += task.duration_ns;
}

void Candidates::leave(DeviceId device, DataId data, Which which, const PlacedTask& task) {
  std::vector<Group>& groups = devices_[device].groups[which];
  std::vector<DataId>& grouped = devices_[device].grouped[which];
  Group& group = groups[data];
  group.work_ns -= task.duration_ns;
  if (task.priority == group.top_priority) group.is_top_known = false;
  if (--group.count != 0) return;
  grouped[group.position] = grouped.back();
  groups[grouped.back()].position = group.position;
  grouped.pop_back();
}

}  // namespace raddle::vm
