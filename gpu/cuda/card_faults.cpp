// Cards that fail, and are opened anew: Note [cards that fail].
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "gpu/cuda/cuda_state.hpp"
#include "gpu/server/server_process.hpp"

namespace raddle::gpu {

namespace {

constexpr unsigned most_vain_starts = 3;
constexpr std::chrono::milliseconds wanted_slice{100};
constexpr std::uint64_t least_patience_ns = 2'000'000'000;
constexpr std::uint64_t patience_times = 64;  ///< what it is expected to take: some points take longer than most

}  // namespace

/// Waits until the card may be used, and sees to the thread's stream. @param expected_ns  of what is to run there
/// @param may_enter  asked while it waits, and then  @return false: the card is given up, or it may not
bool CudaDevices::State::enter(unsigned number, bool is_alone, std::int64_t expected_ns, CardStream& stream,
                               const std::function<bool()>& may_enter) {
  std::unique_lock lock(mutex);
  CardPlace& place = places[number];
  const auto is_free = [&] {
    return place.is_given_up ||
           (!place.is_down && !place.is_alone && (is_alone ? place.busy == 0 : place.wanting_alone == 0));
  };
  if (is_alone) ++place.wanting_alone;
  bool is_let = is_free();
  while (!is_let && may_enter()) is_let = changed.wait_for(lock, wanted_slice, is_free);
  if (is_alone && --place.wanting_alone == 0) changed.notify_all();
  if (!is_let || place.is_given_up || !may_enter()) return false;
  ++place.busy;
  place.unknown += expected_ns == 0;
  place.expected_ns += expected_ns;
  place.is_alone = is_alone;
  const unsigned starts = place.starts;
  lock.unlock();
  if (stream.starts != starts) {
    const std::expected<void*, int> opened = cards[number]->open_stream();
    stream = {opened.value_or(nullptr), starts, opened ? 0 : opened.error()};
  }
  return true;
}

/// How long it may take what has entered it: they run beside each other, or one after the other.
std::uint64_t CudaDevices::State::patience_ns(unsigned number) const {
  const std::lock_guard lock(mutex);
  const CardPlace& place = places[number];
  if (place.unknown != 0) return any_time_ns;
  return std::max(least_patience_ns, patience_times * static_cast<std::uint64_t>(place.expected_ns));
}

/// @param has_ended  what has entered: the card works
void CudaDevices::State::leave(unsigned number, std::int64_t expected_ns, bool has_ended) {
  const std::lock_guard lock(mutex);
  CardPlace& place = places[number];
  --place.busy;
  place.unknown -= expected_ns == 0;
  place.expected_ns -= expected_ns;
  const bool was_alone = std::exchange(place.is_alone, false);
  if (has_ended) place.vain_starts = 0;
  if (place.is_down || place.wanting_alone != 0 || was_alone) changed.notify_all();
}

/// Of a thread that ends.
void CudaDevices::State::close_stream(unsigned number, const CardStream& stream) {
  {
    const std::lock_guard lock(mutex);
    if (stream.stream == nullptr || stream.starts != places[number].starts) return;
  }
  cards[number]->close_stream(stream.stream);
}

/// By who has entered it, or the thread that loads. @param is_told  somebody wants to know
/// @return why, in words
std::string CudaDevices::State::bring_down(unsigned number, int error, bool is_told) {
  const std::string fault =
      error == ResidentCard::lost ? "its super kernel answers no more" : drivers[number]->text_of(error);
  std::unique_lock lock(mutex);
  CardPlace& place = places[number];
  if (place.is_down || place.is_given_up) return fault;
  drivers[number]->stop();
  const bool begins_anew = drivers[number]->begins_anew() && place.vain_starts < most_vain_starts;
  if (problem.empty() && is_told)
    problem = fmt::format("{}: {}; {}", facts[number].name, fault,
                          begins_anew ? "it was started anew, and what it had under way was computed again"
                                      : "workers have computed what it was given");
  if (!begins_anew) {
    give_up(number, lock);
    return fault;
  }
  place.is_down = true;
  ++place.vain_starts;
  loads.emplace_back([this, number] { open_anew(number); });
  changed.notify_all();
  return fault;
}

/// It gets nothing more. @param lock  of the mutex; open afterwards
void CudaDevices::State::give_up(unsigned number, std::unique_lock<std::mutex>& lock) {
  places[number].is_given_up = true;
  places[number].is_down = false;
  for (std::jthread& thread : threads[number]) thread.request_stop();
  const bool is_last = working.fetch_sub(1) == 1;
  changed.notify_all();
  lock.unlock();
  calls.give_up(number);
  if (is_last) lose_all();
}

/// On the thread that loads. Nothing, if it is not down any more.
void CudaDevices::State::open_anew(unsigned number) {
  std::unique_ptr<Card> old;
  std::shared_ptr<const CudaDriver> old_driver;
  unsigned device = 0;
  {
    std::unique_lock lock(mutex);
    CardPlace& place = places[number];
    if (!place.is_down) return;
    changed.wait(lock, [&place] { return place.busy == 0; });
    ++place.starts;
    device = place.device;
    old = std::move(cards[number]);
    old_driver = drivers[number];
  }
  old.reset();
  old_driver->wait_until_gone();  // its memory is to be free
  const auto driver = open_driver();
  const auto begins = driver ? (*driver)->begin() : std::unexpected(driver.error());
  auto card = begins ? open_card(**driver, device) : std::unexpected(begins.error());
  if (card) load_all_again(number, **card);
  std::unique_lock lock(mutex);
  next_driver = nullptr;
  if (!card) {
    if (!is_closing)
      problem = fmt::format("{}: it can not be started anew: {}; workers have computed what it was given",
                            facts[number].name, card.error());
    return give_up(number, lock);
  }
  cards[number] = std::move(*card);
  const std::shared_ptr<CardMemory> memory = cards[number]->memory();
  drivers[number] = *driver;
  lock.unlock();
  calls.replace_memory(number, memory);
  lock.lock();
  places[number].is_down = false;
  changed.notify_all();
}

void CudaDevices::State::load_all_again(unsigned number, Card& card) {
  const std::int64_t lanes = super.empty() ? 0 : card.load_super(super);
  const auto load_again = [&](CardFunction& function, const std::string& ptx, const char* entry) {
    const auto number_of_function = function.number;
    function = card.load(ptx, entry);
    if (lanes != 0 && number_of_function) function.number = number_of_function, function.lanes = lanes;
  };
  for (const std::weak_ptr<CudaKernel>& each : kernels)
    if (const auto kernel = each.lock()) load_again(kernel->functions[number], kernel->ptx, kernel->entry);
  for (const std::shared_ptr<Text>& text : for_super)
    load_again(text->functions[number], text->ptx, vm::range_kernel_name);
}

/// What the card had under way when it failed. @param faults  its own  @param fault  why the card has failed
/// @return false: it is the workers'
bool CudaDevices::State::goes_again(unsigned& faults, const CudaKernel& kernel, unsigned number,
                                    const std::string& fault) {
  const std::lock_guard lock(mutex);
  if (server.path.empty()) return false;
  if (++faults < 2) return !kernel.is_blamed;
  if (kernel.is_blamed.exchange(true)) return false;
  places[number].vain_starts = 0;
  const std::string text =
      fmt::format("{}: {} makes it fail: {}; workers have computed it", facts[number].name, kernel.name, fault);
  problem = std::exchange(has_blamed, true) ? problem + "; " + text : text;
  return false;
}

}  // namespace raddle::gpu
