#pragma once
// A lock for what takes less than to fall asleep and be woken.
#include <atomic>
#include <thread>

namespace raddle::vm {

/// Whoever waits looks again and again, and now and then gives way to others; nobody sleeps: two workers that make rows
/// of one array in step would sleep at every row, some 20 us. One byte. is_taken_: taken with acquire, left with
/// release.
class BriefLock {
 public:
  void lock() {
    unsigned turn = 0;
    while (is_taken_.exchange(true, std::memory_order_acquire))
      while (is_taken_.load(std::memory_order_relaxed))
        if (++turn % looks == 0) std::this_thread::yield();
  }
  void unlock() { is_taken_.store(false, std::memory_order_release); }

 private:
  static constexpr unsigned looks = 4096;  ///< some us
  std::atomic<bool> is_taken_{false};
};

}  // namespace raddle::vm
