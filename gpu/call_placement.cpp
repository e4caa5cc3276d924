#include "gpu/call_placement.hpp"

#include <algorithm>
#include <utility>

#include "gpu/call_operands.hpp"

namespace raddle::gpu {

namespace {

constexpr std::size_t bundles_of_memory = 8;    ///< so many fit into a card's memory
constexpr std::size_t shares_of_card = 2;       ///< of calls that wait: others are to get some, too
constexpr std::int64_t guessed_ns = 1'000'000;  ///< what a call takes of which nobody knows

std::int64_t large_bytes_filled(const vm::DeviceCall& call) {
  std::size_t bytes = 0;
  for (const vm::AddressedMemory& memory : call.filled) bytes += is_large(memory) ? memory.size_bytes : 0;
  return static_cast<std::int64_t>(bytes);
}

bool is_within(const BufferPart& part, const BufferPart& copy) {
  return part.buffer == copy.buffer && copy.begin <= part.begin && part.end <= copy.end;
}

}  // namespace

CallPlacement::CallPlacement(const CallPlacing& way, unsigned cards, std::size_t memory_bytes)
    : calls_ahead_(way.calls_ahead),
      bundle_bytes_(static_cast<std::int64_t>(memory_bytes / bundles_of_memory)),
      residency_({}, cards, static_cast<std::int64_t>(memory_bytes), way.links),
      policy_(vm::make_policy(way.policy, {.tasks = tasks_, .residency = residency_})) {
  residency_.set_policy(*policy_);
}

// ---------------------------------------------------------------- data

vm::DataId CallPlacement::datum_of(const BufferPart& part) {
  const auto [found, is_new] = data_of_parts_.try_emplace(part, vm::no_datum);
  if (!is_new) return found->second;
  const auto bytes = static_cast<std::int64_t>(part.end - part.begin);
  if (free_data_.empty()) {
    found->second = residency_.add(bytes);
    data_.emplace_back();
  } else {
    found->second = free_data_.back();
    free_data_.pop_back();
    residency_.replace(found->second, bytes);
  }
  data_[found->second] = {.part = part};
  return found->second;
}

void CallPlacement::note_presence(vm::DataId data, vm::DeviceSet cards) {
  for (unsigned card = 0; card < residency_.device_count(); ++card) {
    if ((cards & vm::set_of(card)) == 0) continue;
    const vm::Source source{.transfer_ns = 0, .device = std::nullopt};
    if (!residency_.is_present(card, data)) residency_.begin_load(card, data, source);
    if (residency_.state(card, data) == vm::CopyState::loading) residency_.end_load(card, data, source);
  }
}

void CallPlacement::end_reading(vm::DataId data) {
  if (--data_[data].readers != 0) return;
  for (unsigned card = 0; card < residency_.device_count(); ++card)
    if (residency_.is_present(card, data)) residency_.drop(card, data);
  data_of_parts_.erase(data_[data].part);
  free_data_.push_back(data);
}

/// Whether some datum lies in it, in part at least; of data that overlap each other it may not see all.
bool CallPlacement::is_known(const BufferPart& copy) const {
  auto next = data_of_parts_.lower_bound({copy.buffer, copy.begin, 0});
  if (next != data_of_parts_.end() && next->first.buffer == copy.buffer && next->first.begin < copy.end) return true;
  if (next == data_of_parts_.begin()) return false;
  --next;
  return next->first.buffer == copy.buffer && next->first.end > copy.begin;
}

/// All data that lie in it as a whole.
void CallPlacement::forget(unsigned card, const BufferPart& copy) {
  for (auto next = data_of_parts_.lower_bound({copy.buffer, copy.begin, 0});
       next != data_of_parts_.end() && next->first.buffer == copy.buffer && next->first.begin < copy.end; ++next)
    if (is_within(next->first, copy) && residency_.state(card, next->second) == vm::CopyState::valid)
      residency_.drop(card, next->second);
}

std::optional<std::size_t> CallPlacement::victim(unsigned card, std::span<const BufferPart> copies, vm::LoadKind load) {
  const auto unread = std::ranges::find_if(copies, [this](const BufferPart& copy) { return !is_known(copy); });
  if (unread != copies.end()) return static_cast<std::size_t>(unread - copies.begin());
  auto chosen = load == vm::LoadKind::demand ? copies.begin() : copies.end();
  while (const std::optional<vm::DataId> data = policy_->victim(card, load)) {
    const BufferPart part = data_[*data].part;
    residency_.drop(card, *data);
    const auto found = std::ranges::find_if(copies, [&part](const BufferPart& copy) { return is_within(part, copy); });
    if (found == copies.end()) continue;  // batches of points hold it
    chosen = found;
    break;
  }
  if (chosen == copies.end()) return std::nullopt;
  forget(card, *chosen);
  return static_cast<std::size_t>(chosen - copies.begin());
}

void CallPlacement::lose(unsigned card) {
  for (const auto& [part, data] : data_of_parts_)
    if (residency_.is_present(card, data)) residency_.drop(card, data);
}

void CallPlacement::give_up(unsigned card) {
  lose(card);
  given_up_.push_back(card);
  const std::span<const vm::TaskId> buffer = residency_.task_buffer(card);
  for (const vm::TaskId id : std::vector(buffer.begin(), buffer.end())) {
    residency_.start(card, id, tasks_[id]);
    residency_.finish(card, tasks_[id]);
    for (const vm::DataId data : tasks_[id].operands) policy_->expected(data, tasks_[id].order);
    policy_->released({&id, 1}, std::nullopt, entries_[id].given_ns);
  }
}

// ---------------------------------------------------------------- calls

void CallPlacement::release(vm::DeviceCall call, std::span<const PlacedRead> reads, std::int64_t now_ns) {
  if (free_tasks_.empty()) {
    free_tasks_.push_back(static_cast<vm::TaskId>(tasks_.size()));
    tasks_.emplace_back();
    entries_.emplace_back();
  }
  const vm::TaskId id = free_tasks_.back();
  free_tasks_.pop_back();
  vm::PlacedTask& task = tasks_[id];
  task = {.duration_ns = call.expected_ns == 0 ? guessed_ns : call.expected_ns,
          .priority = call.priority,
          .order = arrivals_,
          .arrival = arrivals_};
  ++arrivals_;
  for (const PlacedRead& read : reads) {
    const vm::DataId data = datum_of(read.part);
    if (std::ranges::find(task.operands, data) != task.operands.end()) continue;
    task.operands.push_back(data);
    ++data_[data].readers;
    note_presence(data, read.there);
    policy_->expected(data, task.order);
  }
  task.read_count = static_cast<std::uint32_t>(task.operands.size());
  entries_[id] = {std::move(call), now_ns};
  ++waiting_;
  policy_->released({&id, 1}, std::nullopt, now_ns);
}

std::optional<vm::TaskId> CallPlacement::next_of(unsigned card) {
  if (const std::optional<vm::TaskId> own = policy_->next(card)) return own;
  for (const unsigned other : given_up_)
    if (const std::optional<vm::TaskId> meant_for_it = policy_->next(other)) return meant_for_it;
  return std::nullopt;
}

/// Of the card's buffer: what it has not taken because of a bundle's end, or else what comes into it now.
std::optional<vm::TaskId> CallPlacement::front_of(unsigned card) {
  if (const std::span<const vm::TaskId> buffer = residency_.task_buffer(card); !buffer.empty()) return buffer.front();
  const std::optional<vm::TaskId> id = next_of(card);
  if (id) residency_.request(card, *id, tasks_[*id]);
  return id;
}

/// What the call needs that others of its bundle do not. @param data  what these read
std::int64_t CallPlacement::bytes_beside(std::vector<vm::DataId>& data, vm::TaskId id) const {
  std::int64_t bytes = large_bytes_filled(entries_[id].call);
  for (const vm::DataId each : tasks_[id].operands) {
    if (std::ranges::find(data, each) != data.end()) continue;
    data.push_back(each);
    bytes += residency_.bytes(each);
  }
  return bytes;
}

void CallPlacement::start(unsigned card, vm::TaskId id) {
  for (const vm::DataId data : tasks_[id].operands)
    if (!residency_.is_present(card, data))
      residency_.begin_load(card, data, {.transfer_ns = 0, .device = std::nullopt});
  residency_.start(card, id, tasks_[id]);
}

std::size_t CallPlacement::share_of_card() const { return waiting_ / (residency_.device_count() * shares_of_card); }

std::optional<CallBundle> CallPlacement::take(unsigned card, std::size_t most) {
  const std::size_t most_here = std::max<std::size_t>(1, std::min(most, share_of_card()));
  CallBundle bundle{.calls = {}, .card = card};
  std::vector<vm::DataId> read;
  std::int64_t bytes = 0;
  while (bundle.calls.size() < most_here) {
    const std::optional<vm::TaskId> id = front_of(card);
    if (!id) break;
    bytes += bytes_beside(read, *id);
    const bool is_first = bundle.calls.empty();
    if (!is_first && (bytes > bundle_bytes_ || entries_[*id].call.kernel != bundle.calls.front().kernel)) break;
    start(card, *id);
    bundle.given_ns = std::max(bundle.given_ns, entries_[*id].given_ns);
    bundle.tasks.push_back(*id);
    bundle.calls.push_back(taken(*id));
  }
  if (bundle.calls.empty()) return std::nullopt;
  return bundle;
}

vm::DeviceCall CallPlacement::taken(vm::TaskId id) {
  --waiting_;
  return std::exchange(entries_[id].call, {});
}

void CallPlacement::end(const CallBundle& bundle, bool has_run) {
  const unsigned card = *bundle.card;
  for (const vm::TaskId id : bundle.tasks) {
    for (const vm::DataId data : tasks_[id].operands) {
      if (has_run)
        note_presence(data, vm::set_of(card));
      else if (residency_.state(card, data) == vm::CopyState::loading)
        residency_.drop(card, data);
    }
    residency_.finish(card, tasks_[id]);
    for (const vm::DataId data : tasks_[id].operands) end_reading(data);
    free_tasks_.push_back(id);
  }
}

/// A call that lacks what an earlier one lacks, too, needs no load of its own.
LoadsAhead CallPlacement::begin_loads_ahead(unsigned card) {
  LoadsAhead loads{.card = card};
  if (calls_ahead_ == 0) return loads;
  std::vector<vm::DataId> lacking;
  std::int64_t bytes = 0;
  const auto add = [&](vm::TaskId id) {
    const std::size_t before = lacking.size();
    for (const vm::DataId data : tasks_[id].operands) {
      if (residency_.is_present(card, data) || std::ranges::find(lacking, data) != lacking.end()) continue;
      lacking.push_back(data);
      bytes += residency_.bytes(data);
    }
    if (lacking.size() == before) return;
    loads.tasks.push_back(id);
    loads.reads.push_back(large_operands({&entries_[id].call, 1}, &vm::DeviceCall::read));
    ++entries_[id].loading;
  };
  std::ranges::for_each(residency_.task_buffer(card), add);
  const std::size_t most = std::min(calls_ahead_, share_of_card());
  while (residency_.task_buffer(card).size() < most && bytes < bundle_bytes_) {
    const std::optional<vm::TaskId> id = next_of(card);
    if (!id) break;
    residency_.request(card, *id, tasks_[*id]);
    add(*id);
  }
  loading_ += loads.tasks.size();
  return loads;
}

void CallPlacement::end_loads_ahead(const LoadsAhead& loads, const std::vector<bool>& are_there) {
  for (std::size_t i = 0; i < loads.tasks.size(); ++i) {
    --entries_[loads.tasks[i]].loading;
    if (!are_there[i]) continue;
    for (const vm::DataId data : tasks_[loads.tasks[i]].operands) note_presence(data, vm::set_of(loads.card));
  }
  loading_ -= loads.tasks.size();
}

bool CallPlacement::is_loading(std::span<const vm::TaskId> tasks) const {
  return std::ranges::any_of(tasks, [this](vm::TaskId id) { return entries_[id].loading != 0; });
}

std::vector<vm::DeviceCall> CallPlacement::take_all() {
  std::vector<vm::DeviceCall> calls;
  for (unsigned card = 0; card < residency_.device_count(); ++card) {
    while (const std::optional<vm::TaskId> id = front_of(card)) {
      start(card, *id);
      calls.push_back(taken(*id));
      end({.calls = {}, .card = card, .tasks = {*id}}, false);
    }
  }
  return calls;
}

}  // namespace raddle::gpu
