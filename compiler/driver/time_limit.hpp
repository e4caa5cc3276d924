#pragma once
// What is done when a time is up.
#include <atomic>
#include <functional>
#include <thread>

namespace raddle::driver {

/// Make it after the SignalWatch, whose signals are not for its thread.
class TimeLimit {
 public:
  /// @param over  called on a thread of its own when so many seconds have passed, if this is still there
  TimeLimit(double seconds, std::function<void()> over);
  bool is_over() const { return is_over_.load(std::memory_order_acquire); }

 private:
  std::atomic<bool> is_over_{false};  // written by thread_, before it calls `over`
  std::jthread thread_;               ///< last: it ends first
};

}  // namespace raddle::driver
