#pragma once
// Bounds what waits for the outside: while many external programs or calls of code that is being compiled are under
// way, loops stop making iterations, and functions that start programs are not entered. What is under way ends without
// their help, so this can not deadlock.
#include <atomic>
#include <cstdint>
#include <mutex>

#include "vm/schedule/worker_pool.hpp"

namespace raddle::vm {

class Throttle {
 public:
  static constexpr std::uint32_t usual_weight = 16;
  /// Of calls that a device makes, which keeps thousands of warps busy.
  static constexpr std::uint32_t light_weight = 1;

  /// @param limit  operations of the usual weight under way beyond which loops and calls are parked
  Throttle(WorkerPool& pool, std::uint32_t limit) : pool_(pool), limit_(limit * usual_weight) {}
  /// Something that waits for the outside has begun; the caller has a hold on the pool until it ends.
  void begin(std::uint32_t weight = usual_weight);
  /// `count` of them have ended; the caller still has its hold, or is a task. What is parked goes on when enough have
  /// ended.
  void end(std::uint32_t count, std::uint32_t weight = usual_weight);
  /// A hint: park() would keep a task now.
  bool is_tight() const { return is_tight_.load(std::memory_order_relaxed); }
  /// Keeps a loop or a call if there is too much under way. @return false: go on. The task is injected later.
  bool park(Task& task);

 private:
  WorkerPool& pool_;
  const std::uint32_t limit_;  ///< weight
  std::mutex mutex_;           ///< guards all below
  std::uint32_t under_way_ = 0;
  Task* parked_ = nullptr;
  std::atomic<bool> is_tight_{false};  ///< under_way_ > limit_: written under the mutex; a hint for park(), so relaxed
};

}  // namespace raddle::vm
