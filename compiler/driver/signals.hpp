#pragma once
// SIGINT, SIGTERM and SIGHUP while a script runs.
#include <atomic>
#include <thread>

#include "vm/interpret/run.hpp"

namespace raddle::driver {

/// The first signal cancels the run: nothing new is started, running tasks end, external programs are ended. The second
/// one ends the process at once. Make it before the run's threads: they inherit the mask that keeps signals from them.
class SignalWatch {
 public:
  explicit SignalWatch(vm::CancelHook& cancel);
  ~SignalWatch();
  /// The first signal that came, or 0.
  int caught() const { return caught_.load(std::memory_order_relaxed); }  // relaxed: read after the thread has ended it

 private:
  void watch();

  vm::CancelHook& cancel_;
  std::atomic<int> caught_{0};  // written by thread_
  std::thread thread_;
};

}  // namespace raddle::driver
