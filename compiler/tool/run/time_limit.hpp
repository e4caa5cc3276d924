#pragma once
// What is done when a time is up.
#include <functional>
#include <thread>

namespace raddle::tool {

/// Make it after the SignalWatch, whose signals are not for its thread.
class TimeLimit {
 public:
  /// @param over  called on a thread of its own when so many seconds have passed, if this is still there
  TimeLimit(double seconds, std::function<void()> over);

 private:
  std::jthread thread_;
};

}  // namespace raddle::tool
