// What the threads of cards do. A card that fails gets nothing more. What it had under way then is the workers': nobody
// knows whether it was that which has made it fail. All else other cards compute.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "gpu/cuda/cuda_state.hpp"

namespace raddle::gpu {

namespace {

using Clock = std::chrono::steady_clock;

std::int64_t ns_of(Clock::time_point time) { return time.time_since_epoch() / std::chrono::nanoseconds(1); }

std::int64_t ns_since(Clock::time_point begin) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count();
}

/// The card is well, but has no room.
bool is_of_room(int error) { return error == CardMemory::no_room || error == CopyEngine::out_of_memory; }

}  // namespace

void CudaDevices::State::work(const std::stop_token& stop, unsigned number, unsigned thread) {
  void* const stream = cards[number]->open_stream();
  while (true) {
    std::unique_lock lock(mutex);
    if (!changed.wait(lock, stop, [this] { return !batches.empty(); }) || stop.stop_requested()) break;
    const vm::DeviceBatch batch = std::move(batches.front());
    batches.pop_front();
    lock.unlock();
    run(number, thread, batch, stream);
  }
  if (stream != nullptr) cards[number]->close_stream(stream);
}

void CudaDevices::State::run(unsigned number, unsigned thread, const vm::DeviceBatch& batch, void* stream) {
  const Clock::time_point begin = Clock::now();
  vm::DeviceOutcome outcome{.device = number, .start_ns = ns_of(begin)};
  if (batch.is_wanted()) {
    const auto& kernel = static_cast<const CudaKernel&>(*batch.kernel);
    const BatchRun done = cards[number]->run(batch, kernel.functions[number], stream, thread);
    outcome.made = done.made;
    outcome.has_no_room = is_of_room(done.error);
    outcome.traffic = done.traffic;
    if (done.error != 0) note_problem(number, done.error);
  }
  load_of_cards.end(batch);
  outcome.is_lost = working == 0;
  outcome.spent_ns = ns_since(begin);
  batch.done(outcome);
}

void CudaDevices::State::work_on_calls(const std::stop_token& stop, unsigned number) {
  void* const stream = cards[number]->open_stream();
  while (true) {
    const std::vector<vm::DeviceCall> bundle = calls.take(stop);
    if (bundle.empty()) break;
    run(number, bundle, stream);
  }
  if (stream != nullptr) cards[number]->close_stream(stream);
}

/// Halves of what the card has no room for.
void CudaDevices::State::run(unsigned number, std::span<const vm::DeviceCall> bundle, void* stream) {
  const Clock::time_point begin = Clock::now();
  std::vector<vm::EndedCall> ended;
  for (const vm::DeviceCall& call : bundle) ended.push_back({&call, {.device = number, .start_ns = ns_of(begin)}});
  if (std::ranges::any_of(bundle, &vm::DeviceCall::is_wanted)) {
    const auto& kernel = static_cast<const CudaKernel&>(*bundle.front().kernel);
    const auto statuses = cards[number]->run(bundle, kernel.functions[number], stream, ended.front().outcome.traffic);
    const bool has_no_room = !statuses && is_of_room(statuses.error());
    if (has_no_room && bundle.size() > 1) {
      run(number, bundle.first(bundle.size() / 2), stream);
      return run(number, bundle.subspan(bundle.size() / 2), stream);
    }
    if (!statuses) note_problem(number, statuses.error());
    for (std::size_t i = 0; i < ended.size(); ++i) {
      ended[i].outcome.made = statuses && (*statuses)[i] == 0 ? 1 : 0;
      ended[i].outcome.has_no_room = has_no_room;
    }
  }
  for (vm::EndedCall& call : ended) {
    call.outcome.is_lost = working == 0;
    call.outcome.spent_ns = ns_since(begin);
  }
  vm::tell(ended);
}

void CudaDevices::State::note_problem(unsigned number, int error) {
  bool is_last = false;
  {
    const std::lock_guard lock(mutex);
    if (problem.empty())
      problem = fmt::format("{}: {}; workers have computed what it was given", cards[number]->facts().name,
                            error == ResidentCard::lost    ? "its super kernel answers no more"
                            : error == CardMemory::no_room ? "its memory has no room for what a part of a loop reads"
                                                           : driver->text_of(error));
    if (is_of_room(error) || failed[number]) return;
    failed[number] = true;
    is_last = working.fetch_sub(1) == 1;
    for (std::jthread& thread : threads[number]) thread.request_stop();
  }
  if (is_last) lose_all();
}

/// There is no card any more.
void CudaDevices::State::lose_all() {
  std::deque<vm::DeviceBatch> lost;
  {
    const std::lock_guard lock(mutex);
    lost.swap(batches);
  }
  for (const vm::DeviceBatch& batch : lost) {
    load_of_cards.end(batch);
    batch.done({.is_lost = true});
  }
  const std::vector<vm::DeviceCall> lost_calls = calls.take_all();
  std::vector<vm::EndedCall> ended;
  for (const vm::DeviceCall& call : lost_calls) ended.push_back({&call, {.is_lost = true}});
  vm::tell(ended);
}

void CudaDevices::State::submit(vm::DeviceBatch batch) {
  load_of_cards.begin(batch);
  {
    const std::lock_guard lock(mutex);
    batches.push_back(std::move(batch));
    changed.notify_all();
  }
  if (working == 0) lose_all();
}

void CudaDevices::State::submit(vm::DeviceCall call) {
  calls.push(std::move(call));
  if (working == 0) lose_all();
}

}  // namespace raddle::gpu
