// What the threads of cards do.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <ranges>
#include <utility>

#include "gpu/cuda/cuda_state.hpp"
#include "gpu/server/server_process.hpp"

namespace raddle::gpu {

namespace {

constexpr std::int64_t unknown_ns = 5'000'000;    ///< of a batch of which nobody knows how long it takes
constexpr std::int64_t bytes_of_bus_per_ns = 10;  ///< copied to a card, from pageable memory

using Clock = std::chrono::steady_clock;

std::int64_t ns_of(Clock::time_point time) { return time.time_since_epoch() / std::chrono::nanoseconds(1); }

std::int64_t ns_since(Clock::time_point begin) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count();
}

/// Of a batch, as far as one can say.
std::int64_t time_of(const vm::DeviceBatch& batch) { return batch.expected_ns != 0 ? batch.expected_ns : unknown_ns; }

/// By card. No lock of the cards' is held meanwhile: there may be many copies to look at.
std::vector<std::size_t> missing_bytes(const vm::DeviceBatch& batch,
                                       std::span<const std::shared_ptr<CardMemory>> memories) {
  if (memories.empty()) return {};
  const std::vector<Operand> reads = operands_read(batch);
  std::vector<std::size_t> missing;
  for (const std::shared_ptr<CardMemory>& memory : memories)
    missing.push_back(memory ? memory->missing_bytes(reads).of_host : 0);
  return missing;
}

/// The card is well, but has no room.
bool is_of_room(int error) { return error == CardMemory::no_room || error == CopyEngine::out_of_memory; }

}  // namespace

void CudaDevices::State::work(const std::stop_token& stop, unsigned number, unsigned thread) {
  CardStream stream;
  while (true) {
    std::unique_lock lock(mutex);
    const auto is_there = [&] { return !places[number].is_down && next_for(number) != batches.end(); };
    if (!changed.wait(lock, stop, is_there) || stop.stop_requested()) break;
    const auto next = next_for(number);
    vm::DeviceBatch batch = std::move(next->batch);
    batches.erase(next);
    places[number].taken_ns += time_of(batch);
    if (++places[number].taken == places[number].threads && !batches.empty())
      changed.notify_all();  // others may take those
    lock.unlock();
    run(number, thread, std::move(batch), stream);
  }
  close_stream(number, stream);
}

void CudaDevices::State::run(unsigned number, unsigned thread, vm::DeviceBatch batch, CardStream& stream) {
  const Clock::time_point begin = Clock::now();
  const auto& kernel = static_cast<const CudaKernel&>(*batch.kernel);
  vm::DeviceOutcome outcome{.device = number, .start_ns = ns_of(begin)};
  const auto is_wanted = [&batch] { return batch.is_wanted(); };
  const auto may_enter = [&] { return is_wanted() && !kernel.is_blamed; };
  if (may_enter()) {
    if (!enter(number, batch.faults != 0, batch.expected_ns, stream, may_enter)) {
      end_taken(number, batch);
      return put_back(std::move(batch));
    }
    BatchRun done;
    {
      const WantedWhile while_wanted(is_wanted, [&] { return patience_ns(number); });
      done = stream.error != 0 ? BatchRun{.error = stream.error}
                               : cards[number]->run(batch, kernel.functions[number], stream.stream, thread);
    }
    if (done.error != 0 && drivers[number]->is_gone()) done.error = CudaDriver::gone;
    const bool has_failed = done.error != 0 && !is_of_room(done.error);
    const std::string fault = has_failed ? bring_down(number, done.error, is_wanted()) : "";
    if (is_of_room(done.error)) note_lack_of_room(number, kernel, done.error);
    leave(number, batch.expected_ns, !has_failed);
    if (has_failed && is_wanted() && goes_again(batch.faults, kernel, number, fault)) {
      end_taken(number, batch);
      return put_back(std::move(batch));
    }
    outcome.made = done.made;
    outcome.has_no_room = is_of_room(done.error);
    outcome.traffic = done.traffic;
    outcome.computing_start_ns = done.computing_start_ns;
    outcome.computing_ns = done.computing_ns;
    outcome.transfers = std::move(done.transfers);
  }
  load_of_cards.end(batch);
  end_taken(number, batch);  // before its owner hears of it, who may have the next one
  outcome.is_blamed = kernel.is_blamed;
  outcome.is_lost = working == 0 || outcome.is_blamed;
  outcome.spent_ns = ns_since(begin);
  batch.done(outcome);
}

void CudaDevices::State::work_on_calls(const std::stop_token& stop, unsigned number) {
  CardStream stream;
  while (true) {
    CallBundle bundle = calls.take(stop, [number] { return std::vector{number}; });
    if (bundle.calls.empty()) break;
    run(number, std::move(bundle), stream);
  }
  close_stream(number, stream);
}

void CudaDevices::State::run(unsigned number, CallBundle taken, CardStream& stream) {
  const Clock::time_point begin = Clock::now();
  const std::vector<vm::DeviceCall>& bundle = taken.calls;
  const auto& kernel = static_cast<const CudaKernel&>(*bundle.front().kernel);
  std::vector<vm::EndedCall> ended;
  for (const vm::DeviceCall& call : bundle) ended.push_back({&call, {.device = number, .start_ns = ns_of(begin)}});
  bool has_run = false;
  const auto is_wanted = [&bundle] { return std::ranges::any_of(bundle, &vm::DeviceCall::is_wanted); };
  const auto may_enter = [&] { return is_wanted() && !kernel.is_blamed; };
  if (may_enter()) {
    const bool is_suspect = std::ranges::any_of(bundle, &vm::DeviceCall::faults);
    const auto expected = std::ranges::minmax(bundle | std::views::transform(&vm::DeviceCall::expected_ns));
    const std::int64_t expected_ns = expected.min == 0 ? 0 : expected.max;  // they run beside each other
    if (!enter(number, is_suspect, expected_ns, stream, may_enter)) {
      calls.end(taken, false);
      return put_back(bundle);
    }
    int error = 0;
    std::size_t made = 0;
    {
      const WantedWhile while_wanted(is_wanted, [&] { return patience_ns(number); });
      error = stream.error != 0 ? stream.error : run_there(number, bundle, stream.stream, ended, made);
    }
    const std::string fault = error != 0 ? bring_down(number, error, is_wanted()) : "";
    leave(number, expected_ns, error == 0);
    has_run = error == 0;
    if (error != 0 && is_wanted()) {
      bool go_again = true;
      for (std::size_t i = made; i < bundle.size(); ++i)
        go_again = goes_again(taken.calls[i].faults, kernel, number, fault) && go_again;
      if (go_again) ended.resize(made);
    }
  }
  calls.end(taken, has_run);
  if (ended.size() < bundle.size()) put_back(std::span(bundle).subspan(ended.size()));
  const auto spent_ns = ns_since(begin);  // the same for all: see DeviceLog
  for (vm::EndedCall& call : ended) {
    call.outcome.is_blamed = kernel.is_blamed;
    call.outcome.is_lost = working == 0 || call.outcome.is_blamed;
    call.outcome.spent_ns = spent_ns;
  }
  vm::tell(ended);
}

/// Halves of what the card has no room for. @param made  grows by the number of calls, from the first one on, about
/// which all is known then  @return 0, or an error of the card's
int CudaDevices::State::run_there(unsigned number, std::span<const vm::DeviceCall> bundle, void* stream,
                                  std::span<vm::EndedCall> ended, std::size_t& made) {
  const auto& kernel = static_cast<const CudaKernel&>(*bundle.front().kernel);
  const auto statuses = cards[number]->run(bundle, kernel.functions[number], stream, ended.front().outcome);
  const bool has_no_room = !statuses && is_of_room(statuses.error()) && !drivers[number]->is_gone();
  if (has_no_room && bundle.size() > 1) {
    const std::size_t half = bundle.size() / 2;
    if (const int error = run_there(number, bundle.first(half), stream, ended.first(half), made)) return error;
    return run_there(number, bundle.subspan(half), stream, ended.subspan(half), made);
  }
  if (!statuses && !has_no_room) return drivers[number]->is_gone() ? CudaDriver::gone : statuses.error();
  if (has_no_room) note_lack_of_room(number, kernel, statuses.error());
  for (std::size_t i = 0; i < ended.size(); ++i) {
    ended[i].outcome.computing_start_ns = ended.front().outcome.computing_start_ns;
    ended[i].outcome.computing_ns = ended.front().outcome.computing_ns;
    ended[i].outcome.made = statuses && (*statuses)[i] == 0 ? 1 : 0;
    ended[i].outcome.has_no_room = has_no_room;
  }
  made += bundle.size();
  return 0;
}

void CudaDevices::State::end_taken(unsigned number, const vm::DeviceBatch& batch) {
  const std::lock_guard lock(mutex);
  --places[number].taken;
  places[number].taken_ns -= time_of(batch);
}

/// @pre the mutex is held
/// What is meant for the card, or can not be taken by the one that it is meant for.
std::deque<GivenBatch>::iterator CudaDevices::State::next_for(unsigned number) {
  const auto own = std::ranges::find_if(
      batches, [number](const GivenBatch& given) { return given.card.value_or(number) == number; });
  if (own != batches.end()) return own;
  return std::ranges::find_if(batches, [this](const GivenBatch& given) {
    const CardPlace& meant = places[*given.card];
    return meant.is_down || meant.is_given_up || meant.taken == meant.threads;
  });
}

/// For any card.
void CudaDevices::State::put_back(vm::DeviceBatch batch) {
  {
    const std::lock_guard lock(mutex);
    batches.push_front({std::move(batch)});
    changed.notify_all();
  }
  if (working == 0) lose_all();
}

void CudaDevices::State::put_back(std::span<const vm::DeviceCall> calls_of_bundle) {
  for (const vm::DeviceCall& call : calls_of_bundle) calls.push(call, ns_of(Clock::now()));
  if (working == 0) lose_all();
}

/// By who has entered it.
void CudaDevices::State::note_lack_of_room(unsigned number, const CudaKernel& kernel, int error) {
  const std::string why = error == CardMemory::no_room
                              ? fmt::format("its memory has no room for what {} reads at once", kernel.name)
                              : drivers[number]->text_of(error);
  const std::lock_guard lock(mutex);
  if (problem.empty())
    problem = fmt::format("{}: {}; workers have computed what it was given", facts[number].name, why);
}

/// There is no card any more.
void CudaDevices::State::lose_all() {
  std::deque<GivenBatch> lost;
  {
    const std::lock_guard lock(mutex);
    lost.swap(batches);
  }
  for (const GivenBatch& given : lost) {
    load_of_cards.end(given.batch);
    given.batch.done({.is_lost = true});
  }
  const std::vector<vm::DeviceCall> lost_calls = calls.take_all();
  std::vector<vm::EndedCall> ended;
  for (const vm::DeviceCall& call : lost_calls) ended.push_back({&call, {.is_lost = true}});
  vm::tell(ended);
}

void CudaDevices::State::submit(vm::DeviceBatch batch) {
  load_of_cards.begin(batch);
  std::vector<std::shared_ptr<CardMemory>> memories;  // by card; none if there is but one
  {
    const std::lock_guard lock(mutex);
    for (unsigned number = 0; places.size() > 1 && number < places.size(); ++number)
      memories.push_back(cards[number] ? cards[number]->memory() : nullptr);
  }
  const std::vector<std::size_t> missing = missing_bytes(batch, memories);
  {
    const std::lock_guard lock(mutex);
    std::optional<unsigned> first;
    std::int64_t least_ns = 0;
    for (unsigned number = 0; number < missing.size(); ++number) {
      const CardPlace& place = places[number];
      if (place.is_down || place.is_given_up) continue;
      std::int64_t begin_ns = place.taken_ns + static_cast<std::int64_t>(missing[number]) / bytes_of_bus_per_ns;
      for (const GivenBatch& given : batches)
        if (given.card == number) begin_ns += time_of(given.batch);
      if (first && begin_ns >= least_ns) continue;
      least_ns = begin_ns;
      first = number;
    }
    batches.push_back({std::move(batch), first});
    changed.notify_all();
  }
  if (working == 0) lose_all();
}

void CudaDevices::State::submit(vm::DeviceCall call) {
  calls.push(std::move(call), ns_of(Clock::now()));
  if (working == 0) lose_all();
}

}  // namespace raddle::gpu
