#include "tests/bench/locality/simulation.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <queue>

#include "tests/bench/locality/measured_policy.hpp"
#include "vm/place/policy.hpp"
#include "vm/place/residency.hpp"

namespace raddle::locality {

namespace {

using vm::DataId;
using vm::DeviceId;
using vm::TaskId;

enum class EventKind : std::uint8_t { loaded, written_back, copied_to_host, task_ended };
struct Event {
  std::int64_t time_ns = 0;
  std::uint64_t order = 0;  ///< of its posting
  EventKind kind = EventKind::loaded;
  DeviceId device = 0;
  std::uint32_t id = 0;  ///< of the datum or the task
  vm::Source source = {};
  bool operator>(const Event& other) const {
    return time_ns != other.time_ns ? time_ns > other.time_ns : order > other.order;
  }
};

class Simulation {
 public:
  Simulation(const TaskGraph& graph, const Machine& machine);
  std::expected<Outcome, std::string> run(std::string_view policy, Measuring measuring);

 private:
  struct LinkTimes {
    std::int64_t to_device_free_ns = 0, to_host_free_ns = 0;
    std::vector<std::int64_t> from_free_ns;  ///< by device that sends
  };
  const vm::PlacedTask& task(TaskId id) const { return tasks_[id]; }
  std::int64_t& link_free_ns(DeviceId device, EventKind kind, const vm::Source& source);
  void post(Event event, std::int64_t time_ns);
  void transfer(Event event, std::int64_t duration_ns);
  void release(std::vector<TaskId> tasks, std::optional<DeviceId> by);
  void apply(const Event& event);
  void end_task(DeviceId device, TaskId id);

  // One device; true: something has changed.
  bool progress(DeviceId device);
  bool fill_buffer(DeviceId device);
  bool fetch(DeviceId device);
  enum class Fetched : std::uint8_t { present, requested, waits };
  Fetched fetch_operand(DeviceId device, DataId data, bool is_read, vm::LoadKind load);
  bool make_room(DeviceId device, DataId data, vm::LoadKind load);
  std::optional<DataId> choose_victim(DeviceId device, vm::LoadKind load);
  void evict(DeviceId device, DataId data);
  void copy_to_host(DataId data);
  bool start_first(DeviceId device);
  bool is_startable(DeviceId device, const vm::PlacedTask& task) const;

  const TaskGraph& graph_;
  const Machine machine_;
  vm::PlacedTasks tasks_;  ///< with arrivals
  vm::Residency residency_;
  vm::Policy* policy_ = nullptr;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<LinkTimes> links_;                ///< by device; of one bus, the first one's
  std::vector<std::optional<TaskId>> running_;  ///< by device
  std::vector<std::uint32_t> waits_;            ///< by task
  std::vector<std::uint32_t> uses_left_;        ///< by datum: tasks that have not ended
  std::int64_t now_ns_ = 0;
  std::uint64_t posted_ = 0;
  std::uint32_t released_ = 0;
  std::size_t ended_ = 0;
  std::uint64_t changes_ = 0;  ///< what fetch() has done so far: evictions and requests
  std::string order_;
  Outcome outcome_;
};

Simulation::Simulation(const TaskGraph& graph, const Machine& machine)
    : graph_(graph),
      machine_(machine),
      tasks_(graph.tasks),
      residency_(graph.bytes, machine.devices, machine.memory_bytes, machine.links),
      links_(machine.devices),
      running_(machine.devices),
      waits_(graph.waits),
      uses_left_(graph.bytes.size()) {
  for (LinkTimes& links : links_) links.from_free_ns.resize(machine.devices);
  for (const vm::PlacedTask& task : tasks_)
    for (const DataId data : task.operands) ++uses_left_[data];
}

std::expected<Outcome, std::string> Simulation::run(std::string_view policy_name, Measuring measuring) {
  const vm::PlacementView view{.tasks = tasks_, .residency = residency_};
  std::unique_ptr<vm::Policy> policy = vm::make_policy(policy_name, view);
  if (!policy) return std::unexpected(fmt::format("no policy `{}`", policy_name));
  MeasuredPolicy* measured = nullptr;
  if (measuring == Measuring::policy_time) {
    auto wrapped = std::make_unique<MeasuredPolicy>(view, std::move(policy));
    measured = wrapped.get();
    policy = std::move(wrapped);
  }
  policy_ = policy.get();
  residency_.set_policy(*policy_);
  for (TaskId id = 0; id < tasks_.size(); ++id) {
    tasks_[id].order = id;
    for (const DataId data : tasks_[id].operands) policy_->expected(data, id);
  }
  std::vector<TaskId> first;
  for (TaskId id = 0; id < tasks_.size(); ++id)
    if (waits_[id] == 0) first.push_back(id);
  release(std::move(first), std::nullopt);
  for (;;) {
    for (bool has_changed = true; has_changed;) {
      has_changed = false;
      for (DeviceId device = 0; device < machine_.devices; ++device) has_changed |= progress(device);
    }
    if (events_.empty()) break;
    now_ns_ = events_.top().time_ns;
    while (!events_.empty() && events_.top().time_ns == now_ns_) {
      const Event event = events_.top();
      events_.pop();
      apply(event);
    }
  }
  if (ended_ != tasks_.size()) return std::unexpected(fmt::format("stuck: {} of {} tasks ran", ended_, tasks_.size()));
  outcome_.makespan_ns = now_ns_;
  outcome_.dirty_at_end = residency_.dirty_copies();
  outcome_.unused_loads = residency_.unused_loads();
  outcome_.order_crc32 =
      static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(order_.data()), order_.size()));
  if (measured != nullptr) outcome_.policy_ns = measured->spent_ns();
  return outcome_;
}

std::int64_t& Simulation::link_free_ns(DeviceId device, EventKind kind, const vm::Source& source) {
  if (source.device) return links_[device].from_free_ns[*source.device];
  LinkTimes& links = links_[machine_.has_one_bus ? 0 : device];
  return kind == EventKind::loaded ? links.to_device_free_ns : links.to_host_free_ns;
}

void Simulation::post(Event event, std::int64_t time_ns) {
  event.time_ns = time_ns;
  event.order = posted_++;
  events_.push(event);
}

void Simulation::transfer(Event event, std::int64_t duration_ns) {
  std::int64_t& free_ns = link_free_ns(event.device, event.kind, event.source);
  free_ns = std::max(now_ns_, free_ns) + duration_ns;
  post(event, free_ns);
}

void Simulation::release(std::vector<TaskId> tasks, std::optional<DeviceId> by) {
  for (const TaskId id : tasks) tasks_[id].arrival = released_++;
  if (!tasks.empty()) policy_->released(tasks, by, now_ns_);
}

void Simulation::apply(const Event& event) {
  switch (event.kind) {
    case EventKind::loaded: residency_.end_load(event.device, event.id, event.source); break;
    case EventKind::written_back: residency_.end_write_back(event.device, event.id); break;
    case EventKind::copied_to_host: residency_.end_copy_to_host(event.device, event.id); break;
    case EventKind::task_ended: end_task(event.device, event.id); break;
  }
}

void Simulation::end_task(DeviceId device, TaskId id) {
  running_[device].reset();
  ++ended_;
  for (const DataId data : task(id).operands) --uses_left_[data];
  residency_.finish(device, task(id));
  std::vector<TaskId> ready;
  for (const TaskId successor : graph_.successors[id])
    if (--waits_[successor] == 0) ready.push_back(successor);
  release(std::move(ready), device);
}

bool Simulation::progress(DeviceId device) {
  bool has_changed = false;
  for (bool has_started = true; has_started;) {
    has_changed |= fill_buffer(device);
    has_changed |= fetch(device);
    has_started = start_first(device);
    has_changed |= has_started;
  }
  return has_changed;
}

bool Simulation::fill_buffer(DeviceId device) {
  bool has_changed = false;
  while (residency_.task_buffer(device).size() < machine_.buffered_tasks) {
    const std::optional<TaskId> id = policy_->next(device);
    if (!id) break;
    residency_.request(device, *id, task(*id));
    has_changed = true;
  }
  return has_changed;
}

/// Up to the first operand that can not be had now.
bool Simulation::fetch(DeviceId device) {
  const std::uint64_t before = changes_;
  bool is_first = true;
  for (const TaskId id : residency_.task_buffer(device)) {
    const auto load = is_first && !running_[device] ? vm::LoadKind::demand : vm::LoadKind::prefetch;
    is_first = false;
    for (std::size_t i = 0; i < task(id).operands.size(); ++i)
      if (fetch_operand(device, task(id).operands[i], i < task(id).read_count, load) == Fetched::waits)
        return changes_ != before;
  }
  return changes_ != before;
}

Simulation::Fetched Simulation::fetch_operand(DeviceId device, DataId data, bool is_read, vm::LoadKind load) {
  if (residency_.is_written_back(device, data)) return Fetched::waits;
  if (residency_.is_present(device, data)) return Fetched::present;
  if (is_read && !residency_.source(data, device)) {
    copy_to_host(data);
    return Fetched::waits;
  }
  if (!make_room(device, data, load)) return Fetched::waits;
  ++changes_;
  if (!is_read) {
    residency_.allocate(device, data);
  } else {
    const vm::Source source = *residency_.source(data, device);
    ++(source.device ? outcome_.peer_loads : outcome_.loads);
    residency_.begin_load(device, data, source);
    transfer({.kind = EventKind::loaded, .device = device, .id = data, .source = source}, source.transfer_ns);
  }
  outcome_.most_bytes = std::max(outcome_.most_bytes, residency_.used_bytes(device));
  return Fetched::requested;
}

/// @return false: not now
bool Simulation::make_room(DeviceId device, DataId data, vm::LoadKind load) {
  const std::int64_t needed = residency_.bytes(data);
  while (residency_.used_bytes(device) + needed > machine_.memory_bytes) {
    if (residency_.used_bytes(device) - residency_.leaving_bytes(device) + needed <= machine_.memory_bytes)
      return false;
    const std::optional<DataId> victim = choose_victim(device, load);
    if (!victim) return false;
    evict(device, *victim);
  }
  return true;
}

std::optional<DataId> Simulation::choose_victim(DeviceId device, vm::LoadKind load) {
  if (machine_.drops_dead_data)
    for (DataId data = residency_.first_evictable(device); data != vm::no_datum;
         data = residency_.next_evictable(device, data))
      if (uses_left_[data] == 0) return data;
  return policy_->victim(device, load);
}

void Simulation::evict(DeviceId device, DataId data) {
  ++outcome_.evictions;
  ++changes_;
  if (!residency_.is_dirty(device, data)) {
    residency_.drop(device, data);
    return;
  }
  ++outcome_.write_backs;
  residency_.begin_write_back(device, data);
  transfer({.kind = EventKind::written_back, .device = device, .id = data}, residency_.to_host_ns(data));
}

/// Its only copy is another device's, or on the way to the host.
void Simulation::copy_to_host(DataId data) {
  const std::optional<DeviceId> owner = residency_.owner(data);
  if (!owner || residency_.is_copied_to_host(*owner, data)) return;
  ++outcome_.write_backs;
  ++changes_;
  residency_.begin_copy_to_host(*owner, data);
  transfer({.kind = EventKind::copied_to_host, .device = *owner, .id = data}, residency_.to_host_ns(data));
}

bool Simulation::is_startable(DeviceId device, const vm::PlacedTask& task) const {
  for (std::size_t i = 0; i < task.operands.size(); ++i) {
    const vm::CopyState state = residency_.state(device, task.operands[i]);
    if (i < task.read_count ? state != vm::CopyState::valid : state == vm::CopyState::none) return false;
  }
  return true;
}

bool Simulation::start_first(DeviceId device) {
  const std::span<const TaskId> buffer = residency_.task_buffer(device);
  if (running_[device] || buffer.empty() || !is_startable(device, task(buffer.front()))) return false;
  const TaskId id = buffer.front();
  residency_.start(device, id, task(id));
  running_[device] = id;
  order_ += fmt::format("{}{}:{}", order_.empty() ? "" : ",", device, id);
  post({.kind = EventKind::task_ended, .device = device, .id = id}, now_ns_ + task(id).duration_ns);
  return true;
}

}  // namespace

std::expected<Outcome, std::string> simulate(const TaskGraph& graph, const Machine& machine, std::string_view policy,
                                             Measuring measuring) {
  for (std::size_t id = 0; id < graph.tasks.size(); ++id) {
    std::int64_t needed = 0;
    for (const DataId data : graph.tasks[id].operands) needed += graph.bytes[data];
    if (needed > machine.memory_bytes)
      return std::unexpected(fmt::format("task {} has operands of {} bytes, a device has memory for {}", id, needed,
                                         machine.memory_bytes));
  }
  return Simulation(graph, machine).run(policy, measuring);
}

}  // namespace raddle::locality
