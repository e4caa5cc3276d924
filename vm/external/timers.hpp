#pragma once
// Points in time, waited for by one thread for all.
#include <chrono>
#include <condition_variable>
#include <expected>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace raddle::vm {

/// What is to be done when, in the order of the times.
class TimerQueue {
 public:
  using Clock = std::chrono::steady_clock;
  void add(Clock::time_point due, std::function<void()> done) { due_.emplace(due, std::move(done)); }
  bool is_empty() const { return due_.empty(); }
  /// @pre not empty
  Clock::time_point next() const { return due_.begin()->first; }
  /// The earliest of what is due at `now`, or nothing.
  std::function<void()> take_due(Clock::time_point now);

 private:
  std::multimap<Clock::time_point, std::function<void()>> due_;
};

class Timers {
 public:
  Timers() = default;
  Timers(const Timers&) = delete;
  Timers& operator=(const Timers&) = delete;
  /// Ends the thread; what has not come due is dropped.
  ~Timers();
  /// Calls `done` after at least so many seconds, on the thread of the timers; it should be short. Any thread; the
  /// thread starts with the first call.
  /// @error  there is no thread; `done` is not called
  std::expected<void, std::string> after(double seconds, std::function<void()> done);

 private:
  void run();

  std::mutex mutex_;  // guards all below but thread_
  std::condition_variable changed_;
  TimerQueue queue_;
  bool ending_ = false;
  std::thread thread_;  // started with mutex_ held
};

}  // namespace raddle::vm
