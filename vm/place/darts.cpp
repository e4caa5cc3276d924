#include "vm/place/darts.hpp"

#include <algorithm>

namespace raddle::vm {

Darts::Darts(const PlacementView& view, Candidates::Rank rank, Foresight foresight)
    : Policy(view),
      foresight_(foresight),
      candidates_(view.tasks, view.residency, rank),
      plans_(view.residency.device_count()),
      planned_uses_(view.residency.device_count(), std::vector<std::uint32_t>(view.residency.data_count())),
      planned_for_(view.residency.data_count()),
      uses_ahead_(view.residency.data_count()) {}

void Darts::added(DataId data) {
  candidates_.added(data);
  for (std::vector<std::uint32_t>& uses : planned_uses_) uses.resize(data + 1);
  planned_for_.resize(data + 1);
  uses_ahead_.resize(data + 1);
}

bool Darts::misses_nothing(DeviceId device, const PlacedTask& task) const {
  return std::ranges::all_of(task.reads(), [&](DataId data) { return residency().is_near(device, data); });
}

/// Or will have them by what it plans: of several the one with the fewest tasks.
std::optional<DeviceId> Darts::device_that_has_inputs(const PlacedTask& task) const {
  if (task.read_count == 0) return std::nullopt;
  DeviceSet devices = ~DeviceSet{0};
  for (const DataId data : task.reads()) devices &= residency().near(data) | planned_for_[data];
  std::optional<DeviceId> best;
  const auto load = [&](DeviceId device) { return plans_[device].size() + residency().task_buffer(device).size(); };
  for (; devices != 0; devices &= devices - 1) {
    const auto device = static_cast<DeviceId>(std::countr_zero(devices));
    if (!best || load(device) < load(*best)) best = device;
  }
  return best;
}

void Darts::released(std::span<const TaskId> tasks, std::optional<DeviceId>, std::int64_t) {
  for (const TaskId id : tasks) {
    const std::optional<DeviceId> device = device_that_has_inputs(task(id));
    if (!device) {
      candidates_.add(id);
      continue;
    }
    // before the first task that waits for a load
    const auto before =
        std::ranges::find_if(plans_[*device], [&](TaskId planned) { return !misses_nothing(*device, task(planned)); });
    plan(*device, id, before);
  }
}

void Darts::plan(DeviceId device, TaskId id, std::deque<TaskId>::iterator before) {
  plans_[device].insert(before, id);
  for (const DataId data : task(id).operands) {
    ++planned_uses_[device][data];
    planned_for_[data] |= set_of(device);
  }
}

void Darts::forget_uses(DeviceId device, const PlacedTask& task) {
  for (const DataId data : task.operands)
    if (--planned_uses_[device][data] == 0) planned_for_[data] &= ~set_of(device);
}

std::optional<TaskId> Darts::next(DeviceId device) {
  std::deque<TaskId>& planned = plans_[device];
  if (planned.empty() && candidates_.count() != 0)
    for (const TaskId id : choose(device)) plan(device, id, planned.end());
  if (planned.empty()) return std::nullopt;
  const TaskId id = planned.front();
  planned.pop_front();
  forget_uses(device, task(id));
  for (const DataId data : task(id).operands) uses_ahead_[data].erase(task(id).order);
  return id;
}

std::vector<TaskId> Darts::choose(DeviceId device) {
  if (foresight_ == Foresight::none || residency().device_count() != 1) return candidates_.take_next(device);
  if (std::vector<TaskId> free = candidates_.take_free(device); !free.empty()) return free;
  if (const std::optional<DataId> data = what_finishes(device)) return candidates_.take_missing(device, *data);
  return candidates_.take_next(device);
}

/// What the tasks of a datum miss that is there, and can be done with: all its tasks are ready, each misses one more
/// datum, and there is room for these. The same datum as long as that is so; else the one that misses least.
std::optional<DataId> Darts::what_finishes(DeviceId device) {
  if (residency().used_bytes(device) >= residency().memory_bytes()) return std::nullopt;
  std::optional<Missing> least;
  if (finished_ != no_datum) least = missing_to_finish(device, finished_);
  for (DataId data = 0; data < residency().data_count() && (!least || least->finished != finished_); ++data) {
    const std::optional<Missing> missing = missing_to_finish(device, data);
    if (missing && (!least || missing->bytes < least->bytes)) least = missing;
  }
  if (!least) return std::nullopt;
  finished_ = least->finished;
  return least->first;
}

std::optional<Darts::Missing> Darts::missing_to_finish(DeviceId device, DataId finished) const {
  const Residency& copies = residency();
  const std::span<const TaskId> readers = candidates_.readers(finished);
  if (readers.empty() || !copies.is_near(device, finished)) return std::nullopt;
  if (readers.size() != uses_ahead_[finished].size()) return std::nullopt;
  // and for one more: what is to be finished next
  const std::int64_t room = copies.memory_bytes() - copies.used_bytes(device) - copies.bytes(finished);
  Missing missing{.finished = finished};
  for (const TaskId id : readers) {
    DataId missed = no_datum;
    for (const DataId data : task(id).reads()) {
      if (copies.is_near(device, data)) continue;
      if (missed != no_datum) return std::nullopt;
      missed = data;
    }
    if (missed == no_datum) return std::nullopt;
    if (missing.first == no_datum) missing.first = missed;
    missing.bytes += copies.bytes(missed);
    if (missing.bytes > room) return std::nullopt;
  }
  return missing;
}

std::optional<DataId> Darts::victim(DeviceId device, LoadKind load) {
  const Residency& copies = residency();
  const std::vector<std::uint32_t>& uses = planned_uses_[device];
  const bool is_in_order = foresight_ != Foresight::none && candidates_.count() <= copies.copy_count(device);
  std::optional<DataId> best;
  for (DataId data = copies.first_evictable(device); data != no_datum; data = copies.next_evictable(device, data)) {
    if (copies.is_requested(device, data)) continue;
    if (foresight_ != Foresight::none && uses_ahead_[data].empty()) return data;
    if (!best || goes_before(device, data, *best, is_in_order)) best = data;
    if (foresight_ == Foresight::none && uses[*best] == 0) break;
  }
  if (best || load == LoadKind::prefetch) return best;
  return latest_in_buffer(device);
}

/// @param is_in_order  tasks will run nearly in their order; then some task touches each of the two
bool Darts::goes_before(DeviceId device, DataId one, DataId other, bool is_in_order) const {
  const std::vector<std::uint32_t>& uses = planned_uses_[device];
  if (uses[one] != uses[other] || !is_in_order) return uses[one] < uses[other];
  return *uses_ahead_[one].begin() > *uses_ahead_[other].begin();
}

/// Belady's rule on the buffer: what is needed last, and not by the first task.
std::optional<DataId> Darts::latest_in_buffer(DeviceId device) const {
  const Residency& copies = residency();
  const std::span<const TaskId> buffer = copies.task_buffer(device);
  const auto first_use = [&](DataId data) {
    const auto uses = [&](TaskId id) { return std::ranges::find(task(id).operands, data) != task(id).operands.end(); };
    return std::ranges::find_if(buffer, uses) - buffer.begin();
  };
  std::optional<DataId> latest;
  std::ptrdiff_t latest_use = 0;
  for (DataId data = copies.first_evictable(device); data != no_datum; data = copies.next_evictable(device, data)) {
    const std::ptrdiff_t use = first_use(data);
    if (use <= latest_use) continue;
    latest = data;
    latest_use = use;
  }
  return latest;
}

void Darts::dropped(DeviceId device, DataId data) {
  if (planned_uses_[device][data] == 0) return;
  std::deque<TaskId> kept;
  for (const TaskId id : plans_[device]) {
    if (std::ranges::find(task(id).reads(), data) == task(id).reads().end()) {
      kept.push_back(id);
      continue;
    }
    forget_uses(device, task(id));
    candidates_.add(id);
  }
  plans_[device] = std::move(kept);
}

}  // namespace raddle::vm
