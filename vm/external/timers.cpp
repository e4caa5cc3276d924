#include "vm/external/timers.hpp"

#include <algorithm>

namespace raddle::vm {

namespace {

constexpr double longest_s = 1e9;  // 30 years: beyond, the clock would overflow

}  // namespace

Timers::~Timers() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Timers::after(double seconds, std::function<void()> done) {
  const std::chrono::duration<double> delay(seconds > 0 ? std::min(seconds, longest_s) : 0.0);  // NaN: 0
  const auto due = Clock::now() + std::chrono::ceil<Clock::duration>(delay);
  const std::lock_guard lock(mutex_);
  due_.emplace(due, std::move(done));
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  changed_.notify_one();
}

void Timers::run() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    if (due_.empty()) {
      changed_.wait(lock);
    } else if (const auto next = due_.begin()->first; next > Clock::now()) {
      changed_.wait_until(lock, next);
    } else {
      const auto done = std::move(due_.begin()->second);
      due_.erase(due_.begin());
      lock.unlock();
      done();
      lock.lock();
    }
  }
}

}  // namespace raddle::vm
