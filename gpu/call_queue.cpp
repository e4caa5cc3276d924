#include "gpu/call_queue.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "gpu/call_operands.hpp"
#include "gpu/call_placement.hpp"

namespace raddle::gpu {

CallQueue::CallQueue() = default;

CallQueue::~CallQueue() = default;

/// That count for the size of a bundle.
std::size_t CallQueue::bytes_of(const vm::DeviceCall& call) {
  std::size_t bytes = 0;
  for (const vm::AddressedMemory& memory : call.read)
    if (memory.size_bytes < large_bytes) bytes += memory.size_bytes;
  for (const vm::AddressedMemory& memory : call.filled) bytes += memory.size_bytes;
  return bytes;
}

void CallQueue::push(vm::DeviceCall call, std::int64_t now_ns) {
  std::vector<PlacedRead> reads = placed_reads_of(call);
  const std::size_t bytes = bytes_of(call);
  std::unique_lock lock(mutex_);
  if (!reads.empty() && !way_.policy.empty()) return place(std::move(call), std::move(reads), now_ns, lock);
  const bool has_waiting = waiting_ != 0;
  // the last one of its kernel is the only one that may have room
  const auto last = std::find_if(bundles_.rbegin(), bundles_.rend(),
                                 [&call](const Bundle& bundle) { return bundle.calls.front().kernel == call.kernel; });
  const bool has_room = last != bundles_.rend() && last->calls.size() < most_calls && last->bytes + bytes <= most_bytes;
  Bundle& bundle = has_room ? *last : bundles_.emplace_back();
  bundle.bytes += bytes;
  bundle.calls.push_back(std::move(call));
  lock.unlock();
  if (has_waiting) changed_.notify_one();
}

CallBundle CallQueue::take(const std::stop_token& stop, const std::function<std::vector<unsigned>()>& askers,
                           std::size_t most) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    if (!bundles_.empty()) return {.calls = take_first(most)};
    if (placed_ && placed_->waiting() != 0)
      for (const unsigned card : askers())
        if (std::optional<CallBundle> bundle = placed_->take(card, most)) return std::move(*bundle);
    ++waiting_;
    changed_.wait(lock, stop, [this, seen = changes_] { return !bundles_.empty() || changes_ != seen; });
    --waiting_;
  }
  if (!bundles_.empty()) changed_.notify_one();  // others may have been told of them by this thread only
  return {};
}

/// Of the first bundle. @pre there is one
std::vector<vm::DeviceCall> CallQueue::take_first(std::size_t most) {
  Bundle& first = bundles_.front();
  std::vector<vm::DeviceCall> calls;
  while (calls.size() < most && !first.calls.empty()) {
    first.bytes -= bytes_of(first.calls.front());
    calls.push_back(std::move(first.calls.front()));
    first.calls.pop_front();
  }
  if (first.calls.empty()) bundles_.pop_front();
  return calls;
}

std::vector<vm::DeviceCall> CallQueue::take_all() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !placed_ || !placed_->is_loading(); });
  std::vector<vm::DeviceCall> calls;
  for (Bundle& bundle : bundles_) std::ranges::move(bundle.calls, std::back_inserter(calls));
  bundles_.clear();
  if (placed_) std::ranges::move(placed_->take_all(), std::back_inserter(calls));
  return calls;
}

// ---------------------------------------------------------------- placed calls

std::vector<PlacedRead> CallQueue::placed_reads_of(const vm::DeviceCall& call) {
  std::vector<PlacedRead> reads;
  for (const vm::AddressedMemory& memory : call.read) {
    if (!is_large(memory) || memory.buffer == nullptr) continue;
    const Operand operand = operand_of(call.words[memory.word], memory);
    reads.push_back({{operand.buffer, operand.offset, operand.offset + operand.bytes}});
  }
  return reads;
}

void CallQueue::place_by(CallPlacing way, std::vector<std::shared_ptr<CardMemory>> memories) {
  if (memories.empty() || memories.size() > vm::most_devices) return;
  const std::lock_guard lock(mutex_);
  way_ = std::move(way);
  memories_ = std::move(memories);
}

/// With the first call that has large arrays: until then no memory asks for anything. @param lock  opened meanwhile
void CallQueue::begin_placing(std::unique_lock<std::mutex>& lock) {
  std::size_t bytes = std::numeric_limits<std::size_t>::max();
  for (const auto& memory : memories_)
    if (memory) bytes = std::min(bytes, memory->limit());
  const std::vector<std::shared_ptr<CardMemory>> memories = memories_;
  placed_ = std::make_unique<CallPlacement>(way_, static_cast<unsigned>(memories.size()), bytes);
  for (unsigned card = 0; card < memories.size(); ++card)
    if (!memories[card]) placed_->give_up(card);
  lock.unlock();
  for (unsigned card = 0; card < memories.size(); ++card)
    if (memories[card]) let_choose_victims(card, *memories[card]);
  lock.lock();
}

void CallQueue::let_choose_victims(unsigned card, CardMemory& memory) {
  memory.choose_victims_by([this, card](std::span<const BufferPart> copies, vm::LoadKind load) {
    const std::lock_guard lock(mutex_);
    ++changes_;  // what was planned for the copy may be for other cards now
    if (waiting_ != 0) changed_.notify_all();
    return placed_->victim(card, copies, load);
  });
}

/// @param lock  of the mutex; opened meanwhile, if it is a datum's first call
void CallQueue::place(vm::DeviceCall call, std::vector<PlacedRead> reads, std::int64_t now_ns,
                      std::unique_lock<std::mutex>& lock) {
  if (!placed_) begin_placing(lock);
  if (std::ranges::any_of(reads, [this](const PlacedRead& read) { return !placed_->knows(read.part); })) {
    const std::vector<std::shared_ptr<CardMemory>> memories = memories_;
    lock.unlock();
    for (unsigned card = 0; card < memories.size(); ++card)
      for (PlacedRead& read : reads)
        if (memories[card] && memories[card]->has(read.part)) read.there |= vm::set_of(card);
    lock.lock();
  }
  placed_->release(std::move(call), reads, now_ns);
  ++changes_;
  if (waiting_ != 0) changed_.notify_all();
}

void CallQueue::end(const CallBundle& bundle, bool has_run) {
  if (bundle.tasks.empty()) return;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !placed_->is_loading(bundle.tasks); });
  placed_->end(bundle, has_run);
}

std::expected<vm::DeviceTraffic, int> CallQueue::load_ahead(unsigned card, CardMemory& memory, CopyEngine& engine) {
  LoadsAhead loads;
  {
    const std::lock_guard lock(mutex_);
    if (!placed_) return {};
    loads = placed_->begin_loads_ahead(card);
  }
  if (loads.tasks.empty()) return {};
  vm::DeviceTraffic traffic;
  int error = 0;
  std::vector<bool> are_there(loads.tasks.size());
  for (std::size_t i = 0; i < loads.tasks.size() && error == 0; ++i) {
    const auto loaded = memory.load_ahead(loads.reads[i], engine);
    are_there[i] = loaded.has_value();
    if (loaded)
      traffic += *loaded;
    else if (loaded.error() == CardMemory::no_room)
      break;  // later ones are not to have the room in its place
    else
      error = loaded.error();
  }
  {
    const std::lock_guard lock(mutex_);
    placed_->end_loads_ahead(loads, are_there);
  }
  changed_.notify_all();
  if (error != 0) return std::unexpected(error);
  return traffic;
}

void CallQueue::replace_memory(unsigned card, std::shared_ptr<CardMemory> memory) {
  {
    const std::lock_guard lock(mutex_);
    if (way_.policy.empty()) return;
    memories_[card] = memory;
    if (!placed_) return;
    placed_->lose(card);
  }
  let_choose_victims(card, *memory);
}

void CallQueue::give_up(unsigned card) {
  const std::lock_guard lock(mutex_);
  if (way_.policy.empty()) return;
  memories_[card].reset();
  if (!placed_) return;
  placed_->give_up(card);
  ++changes_;
  changed_.notify_all();
}

}  // namespace raddle::gpu
