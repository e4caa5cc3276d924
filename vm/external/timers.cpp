#include "vm/external/timers.hpp"

#include <algorithm>
#include <system_error>

#include "vm/external/cores.hpp"
#include "vm/external/signals_blocked.hpp"
#include "vm/value/file_descriptor.hpp"

namespace raddle::vm {

namespace {

constexpr double longest_s = 1e9;  // 30 years: beyond, the clock would overflow

}  // namespace

std::function<void()> TimerQueue::take_due(Clock::time_point now) {
  const auto first = due_.begin();
  if (first == due_.end() || first->first.first > now) return {};
  auto done = std::move(first->second);
  due_.erase(first);
  return done;
}

Timers::~Timers() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

bool Timers::begin() {
  const std::lock_guard lock(mutex_);
  return start().has_value();
}

std::expected<void, std::string> Timers::start() {
  if (thread_.joinable()) return {};
  try {
    const SignalsBlocked blocked;
    const AllCores everywhere;
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& error) {
    return std::unexpected("no thread could be started: " + error_text(error.code().value()));
  }
  return {};
}

std::expected<TimerQueue::Entry, std::string> Timers::after(double seconds, std::function<void()> done) {
  using Clock = TimerQueue::Clock;
  const std::chrono::duration<double> delay(seconds > 0 ? std::min(seconds, longest_s) : 0.0);  // NaN: 0
  const auto due = Clock::now() + std::chrono::ceil<Clock::duration>(delay);
  const std::lock_guard lock(mutex_);
  if (auto started = start(); !started) return std::unexpected(std::move(started.error()));
  const TimerQueue::Entry timer = queue_.add(due, std::move(done));
  if (queue_.next() == timer) changed_.notify_one();
  return timer;
}

void Timers::cancel(TimerQueue::Entry timer) {
  const std::lock_guard lock(mutex_);
  queue_.remove(timer);
}

void Timers::run() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    if (const auto done = queue_.take_due(TimerQueue::Clock::now())) {
      lock.unlock();
      done();
      lock.lock();
    } else if (queue_.is_empty()) {
      changed_.wait(lock);
    } else {
      changed_.wait_until(lock, queue_.next().first);
    }
  }
}

}  // namespace raddle::vm
