#pragma once
// Points in time, waited for by one thread for all.
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace raddle::vm {

/// What is to be done when, in the order of the times.
class TimerQueue {
 public:
  using Clock = std::chrono::steady_clock;
  using Entry = std::pair<Clock::time_point, std::uint64_t>;  ///< when, and the number of the call of add()
  Entry add(Clock::time_point due, std::function<void()> done) {
    return due_.emplace(Entry(due, ++added_), std::move(done)).first->first;
  }
  /// Nothing if it was taken.
  void remove(Entry entry) { due_.erase(entry); }
  bool is_empty() const { return due_.empty(); }
  /// @pre not empty
  Entry next() const { return due_.begin()->first; }
  /// The earliest of what is due at `now`, or nothing.
  std::function<void()> take_due(Clock::time_point now);

 private:
  std::map<Entry, std::function<void()>> due_;
  std::uint64_t added_ = 0;
};

class Timers {
 public:
  Timers() = default;
  Timers(const Timers&) = delete;
  Timers& operator=(const Timers&) = delete;
  /// Ends the thread; what has not come due is dropped.
  ~Timers();
  /// Starts the thread, as after() does; any thread. @return false: there can not be one
  bool begin();
  /// Calls `done` after at least so many seconds, on the thread of the timers; it should be short. Any thread; the
  /// thread starts with the first call.
  /// @return  by which it can be cancelled   @error  there is no thread; `done` is not called
  std::expected<TimerQueue::Entry, std::string> after(double seconds, std::function<void()> done);
  /// Any thread. What is due may be called all the same.
  void cancel(TimerQueue::Entry timer);

 private:
  std::expected<void, std::string> start();  // with mutex_ held
  void run();

  std::mutex mutex_;  // guards all below but thread_
  std::condition_variable changed_;
  TimerQueue queue_;
  bool ending_ = false;
  std::thread thread_;  // started with mutex_ held
};

}  // namespace raddle::vm
