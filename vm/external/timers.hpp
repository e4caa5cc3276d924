#pragma once
// Points in time, waited for by one thread for all.
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

namespace raddle::vm {

class Timers {
 public:
  Timers() = default;
  Timers(const Timers&) = delete;
  Timers& operator=(const Timers&) = delete;
  /// Ends the thread; what has not come due is dropped.
  ~Timers();
  /// Calls `done` after at least so many seconds, on the thread of the timers; it should be short. Any thread; the
  /// thread starts with the first call.
  void after(double seconds, std::function<void()> done);

 private:
  using Clock = std::chrono::steady_clock;
  void run();

  std::mutex mutex_;  // guards all below but thread_
  std::condition_variable changed_;
  std::multimap<Clock::time_point, std::function<void()>> due_;
  bool ending_ = false;
  std::thread thread_;  // started with mutex_ held
};

}  // namespace raddle::vm
