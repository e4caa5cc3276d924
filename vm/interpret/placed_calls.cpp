#include "vm/interpret/placed_calls.hpp"

#include <algorithm>

#include "vm/interpret/call_profile.hpp"
#include "vm/interpret/run_state.hpp"
#include "vm/interpret/run_worker.hpp"
#include "vm/value/borrow.hpp"
#include "vm/value/dense.hpp"

namespace raddle::vm {

namespace {

constexpr DeviceId process = 0;        ///< the only device
constexpr std::size_t most_ahead = 3;  ///< calls that are chosen before they run, so that what they read can come
constexpr std::int64_t guessed_ns = 1'000'000;  ///< what a call takes that was not made before
/// Of the disk, about. As all data come from there, policies only compare what takes so and so long with itself.
constexpr std::int64_t bytes_per_second = 1'000'000'000;
constexpr Links links{.to_device = bytes_per_second, .to_host = bytes_per_second};

const CallSite& site_of(const PlacedCalls::Call& call) {
  const Program& program = call.frame->run_state.program;
  return program.calls[program.instructions[call.instruction].d];
}

struct MadeBlock {
  BoundedMemory::Block* block = nullptr;
  Place array;
};

/// Of the dense arrays that it has made and that may go.
std::vector<MadeBlock> blocks_made(const PlacedCalls::Call& call) {
  std::vector<MadeBlock> blocks;
  for (const Operand result : site_of(call).results) {
    const Future& made = call.frame->at(result);
    if (!made.is_resolved() || made.is_failed() || made.kind() != ValueKind::structure) continue;
    auto& structure = object_in<Structure>(made);
    if (!is_dense(structure)) continue;
    const Future& elements = structure.field(0);
    if (!elements.is_resolved() || elements.is_failed() || elements.kind() != ValueKind::array) continue;
    Array& array = object_in<Array>(elements);
    const Buffer* const numbers = array.find_packed();
    if (numbers && numbers->block()) blocks.push_back({numbers->block(), array.place()});
  }
  return blocks;
}

}  // namespace

PlacedCalls::PlacedCalls(std::string_view policy, BoundedMemory& memory)
    : memory_(memory),
      residency_({}, /*devices=*/1, static_cast<std::int64_t>(memory.limit_bytes()), links),
      policy_(make_policy(policy, {.tasks = tasks_, .residency = residency_})) {
  residency_.set_policy(*policy_);
}

bool PlacedCalls::takes(const CallSite& site) {
  if (site.number_arrays.empty() && !site.makes_dense) return false;
  const std::lock_guard lock(mutex_);
  return !make_little_.contains(&site);
}

// ---------------------------------------------------------------- data

void PlacedCalls::name(BoundedMemory::Block& block, const Place& array) {
  if (array.end == 0) return;
  memory_.set_name(block, names_.try_emplace(array, static_cast<std::uint32_t>(names_.size() + 1)).first->second);
}

/// @return its number; it is made if nobody has asked for it yet
DataId PlacedCalls::datum_of(BoundedMemory::Block& block) {
  const auto [found, is_new] = ids_.try_emplace(&block, no_datum);
  if (!is_new) return found->second;
  const auto bytes = static_cast<std::int64_t>(BoundedMemory::bytes_of(block));
  if (free_data_.empty()) {
    found->second = residency_.add(bytes);
    data_.emplace_back();
  } else {
    found->second = free_data_.back();
    free_data_.pop_back();
    residency_.replace(found->second, bytes);
  }
  const DataId data = found->second;
  data_[data].block = &block;
  if (memory_.begin_watch(watch_, block, data)) load(data);
  memory_.keep(block);
  return data;
}

void PlacedCalls::load(DataId data) {
  const Source source = *residency_.source(data, process);
  residency_.begin_load(process, data, source);
  residency_.end_load(process, data, source);
}

void PlacedCalls::end_reading(DataId data) {
  Datum& datum = data_[data];
  if (--datum.readers != 0) return;
  if (residency_.is_present(process, data)) residency_.drop(process, data);
  if (datum.block) {
    memory_.end_watch(*datum.block);
    ids_.erase(datum.block);
  }
  datum = {};
  free_data_.push_back(data);
}

/// Since the last time.
void PlacedCalls::note_what_left() {
  for (const DataId data : memory_.went(watch_)) {
    if (residency_.is_present(process, data)) {
      ++counters_.lost;
      residency_.drop(process, data);
    }
  }
  for (const DataId data : memory_.given_back(watch_)) {  // of runs that were stopped: calls hold what they read
    ids_.erase(data_[data].block);
    data_[data].block = nullptr;
  }
}

/// For the arrays that calls read, as those that run will need some for what they make.
std::int64_t PlacedCalls::room() const {
  const auto room = static_cast<std::int64_t>(memory_.room_bytes());
  return std::max(room / 2, room - static_cast<std::int64_t>(to_be_made_));
}

/// @return false: nothing may go for it
bool PlacedCalls::make_room_for(std::int64_t bytes, LoadKind kind) {
  const std::int64_t room = this->room();
  while (residency_.used_bytes(process) + bytes > room) {
    const std::optional<DataId> victim = policy_->victim(process, kind);
    if (!victim) return false;
    ++counters_.evictions;
    residency_.drop(process, *victim);
    if (data_[*victim].block) memory_.spare(*data_[*victim].block);
  }
  return true;
}

/// Chooses some calls.
void PlacedCalls::fill_buffer() {
  while (residency_.task_buffer(process).size() < most_ahead) {
    const std::optional<TaskId> id = policy_->next(process);
    if (!id) break;
    residency_.request(process, *id, tasks_[*id]);
  }
}

bool PlacedCalls::is_startable(TaskId id) const {
  return std::ranges::all_of(tasks_[id].operands, [&](DataId data) { return residency_.is_present(process, data); });
}

/// Has what it reads brought. @return false: there is no room for all
bool PlacedCalls::fetch(TaskId id, LoadKind kind) {
  for (const DataId data : tasks_[id].operands) {
    if (residency_.is_present(process, data) || !data_[data].block) continue;
    // what runs next comes in any case: the memory has its own order
    if (!make_room_for(residency_.bytes(data), kind) && kind == LoadKind::prefetch) return false;
    ++counters_.loads;
    load(data);
    memory_.keep(*data_[data].block);
    memory_.fetch(*data_[data].block);
  }
  return true;
}

/// What the chosen calls read comes while others run, as far as there is room.
void PlacedCalls::fetch_ahead() {
  for (const TaskId id : residency_.task_buffer(process))
    if (!fetch(id, LoadKind::prefetch)) return;
}

void PlacedCalls::reserve(CallId id) {
  starts_[id].to_be_made = costs_[&site_of(calls_[id])].made_bytes;
  to_be_made_ += starts_[id].to_be_made;
  make_room_for(0, LoadKind::prefetch);
}

// ---------------------------------------------------------------- calls

std::uint64_t PlacedCalls::order_of_call(const Frame& frame) {
  const Body* loop = nullptr;
  for (const Frame* each = &frame; each; each = each->outer)
    if (!each->is_function()) loop = &each->body;
  const auto number = loop ? static_cast<std::uint64_t>(loop - frame.run_state.program.bodies.data()) : 0;
  return number << 32 | calls_seen_.fetch_add(1, std::memory_order_relaxed);
}

void PlacedCalls::expect(BoundedMemory::Block& block, const Place& array, std::vector<BoundedMemory::Block*>& reads,
                         std::uint64_t order) {
  const std::lock_guard lock(mutex_);
  if (std::ranges::find(reads, &block) != reads.end()) return;
  reads.push_back(&block);
  note_what_left();
  name(block, array);
  const DataId data = datum_of(block);
  ++data_[data].readers;
  policy_->expected(data, order);
}

void PlacedCalls::forget(std::span<BoundedMemory::Block* const> reads, std::uint64_t order) {
  const std::lock_guard lock(mutex_);
  for (BoundedMemory::Block* const block : reads) {
    policy_->unexpected(ids_.at(block), order);
    end_reading(ids_.at(block));
  }
}

void PlacedCalls::release(const Call& call, std::span<BoundedMemory::Block* const> reads) {
  const std::lock_guard lock(mutex_);
  if (free_calls_.empty()) {
    free_calls_.push_back(static_cast<CallId>(calls_.size()));
    calls_.emplace_back();
    tasks_.emplace_back();
    starts_.emplace_back();
  }
  const CallId id = free_calls_.back();
  free_calls_.pop_back();
  calls_[id] = call;
  PlacedTask& task = tasks_[id];
  task = {.priority = call.priority, .order = call.order, .arrival = arrivals_++};
  if (reads.empty()) return making_.push_back(id);
  for (BoundedMemory::Block* const block : reads) task.operands.push_back(ids_.at(block));
  task.read_count = static_cast<std::uint32_t>(task.operands.size());
  const Costs& costs = costs_[&site_of(call)];
  task.duration_ns = costs.duration_ns == 0 ? guessed_ns : costs.duration_ns;
  if (!is_startable(id) || !std::ranges::all_of(task.operands, [&](DataId data) { return data_[data].readers == 1; }))
    return policy_->released({&id, 1}, process, now_ns());
  for (const DataId data : task.operands) policy_->unexpected(data, task.order);
  residency_.request(process, id, task);
  finishing_.push_back(id);
}

PlacedCalls::Taken PlacedCalls::take(unsigned worker) {
  const std::lock_guard lock(mutex_);
  note_what_left();
  const CallId id = choose();
  fetch_ahead();
  Start& start = starts_[id];
  start.time_ns = now_ns();
  start.made_bytes = BoundedMemory::bytes_made_here();
  start.worker = worker;
  return {id, calls_[id]};
}

/// One that finishes what is there, or makes what many read; else the first of the chosen ones whose data are there;
/// else the first one.
PlacedCalls::CallId PlacedCalls::choose() {
  if (!finishing_.empty()) {
    const CallId id = finishing_.front();
    finishing_.pop_front();
    return start_reading(id);
  }
  if (!making_.empty() && makes_for_many_.contains(&site_of(calls_[making_.front()]))) return start_making();
  fill_buffer();
  const std::span<const TaskId> buffer = residency_.task_buffer(process);
  if (buffer.empty()) return start_making();
  const auto startable = std::ranges::find_if(buffer, [&](TaskId id) { return is_startable(id); });
  return start_reading(startable == buffer.end() ? buffer.front() : *startable);
}

PlacedCalls::CallId PlacedCalls::start_reading(CallId id) {
  reserve(id);
  for (const DataId data : tasks_[id].operands)
    if (data_[data].block) memory_.keep(*data_[data].block);
  if (!is_startable(id)) fetch(id, LoadKind::demand);
  residency_.start(process, id, tasks_[id]);
  ++counters_.calls;
  return id;
}

PlacedCalls::CallId PlacedCalls::start_making() {
  const CallId id = making_.front();
  making_.pop_front();
  reserve(id);
  return id;
}

void PlacedCalls::finish(RunWorker& here, CallId id) {
  Frame* frame = nullptr;
  {
    const std::lock_guard lock(mutex_);
    const PlacedTask& task = tasks_[id];
    const Call call = calls_[id];
    frame = call.frame;
    note_costs(here.worker().index(), id);
    if (!task.operands.empty()) residency_.finish(process, task);
    note_results(call, task);
    for (const DataId data : task.operands) end_reading(data);
    free_calls_.push_back(id);
  }
  here.release(frame);
}

void PlacedCalls::note_costs(unsigned worker, CallId id) {
  const Start& start = starts_[id];
  Costs& costs = costs_[&site_of(calls_[id])];
  to_be_made_ -= start.to_be_made;
  const std::int64_t spent_ns = now_ns() - start.time_ns;
  costs.duration_ns = costs.duration_ns == 0 ? spent_ns : (3 * costs.duration_ns + spent_ns) / 4;
  if (start.worker != worker) return;  // others have made some of it
  costs.made_bytes = std::max(costs.made_bytes / 8 * 7, BoundedMemory::bytes_made_here() - start.made_bytes);
}

/// Whoever waits for what it has made has told so by now.
void PlacedCalls::note_results(const Call& call, const PlacedTask& task) {
  const std::vector<MadeBlock> made = blocks_made(call);
  bool is_for_many = false;
  for (const auto& [block, array] : made) {
    name(*block, array);
    if (const auto found = ids_.find(block); found != ids_.end())
      is_for_many |= data_[found->second].readers > 1;
    else
      memory_.spare(*block);
  }
  if (!task.operands.empty()) return;
  if (made.empty()) make_little_.insert(&site_of(call));
  if (is_for_many) makes_for_many_.insert(&site_of(call));
}

ArrayTraffics PlacedCalls::arrays() const {
  const std::lock_guard lock(mutex_);
  const std::vector<BoundedMemory::Traffic> by_name = memory_.traffic_by_name();
  ArrayTraffics all;
  const auto add = [&](const Place& array, const BoundedMemory::Traffic& of) {
    ArrayTraffic& to = all.of(array);
    to.loads = of.loads, to.bytes_loaded = of.bytes_in;
    to.write_backs = of.write_backs, to.bytes_written = of.bytes_out;
    to.evictions = of.evictions;
  };
  add({}, by_name.front());
  for (const auto& [array, name] : names_) add(array, by_name[name]);
  return all;
}

PlacedCounters PlacedCalls::counters() const {
  const std::lock_guard lock(mutex_);
  return counters_;
}

}  // namespace raddle::vm
