#include "vm/schedule/throttle.hpp"

namespace raddle::vm {

void Throttle::begin(std::uint32_t weight) {
  const std::lock_guard lock(mutex_);
  under_way_ += weight;
  if (under_way_ > limit_) is_tight_.store(true, std::memory_order_relaxed);
}

void Throttle::end(std::uint32_t count, std::uint32_t weight) {
  Task* released = nullptr;
  {
    const std::lock_guard lock(mutex_);
    under_way_ -= count * weight;
    if (under_way_ > limit_ / 2) return;
    is_tight_.store(false, std::memory_order_relaxed);
    released = parked_;
    parked_ = nullptr;
  }
  while (released) {
    Task* task = released;
    released = task->next;
    task->next = nullptr;
    pool_.inject(*task);
  }
}

bool Throttle::park(Task& task) {
  if (!is_tight()) return false;
  const std::lock_guard lock(mutex_);
  if (under_way_ <= limit_) return false;
  task.next = parked_;
  parked_ = &task;
  return true;
}

}  // namespace raddle::vm
