#include "vm/device/device_run.hpp"

namespace raddle::vm {

namespace {

const void* const dropped = reinterpret_cast<const void*>(~std::uintptr_t{0});

bool is_dropped(raddle_leaf_worker& run) {
  return std::atomic_ref<const void*>(run.stack_limit).load(std::memory_order_relaxed) == dropped;
}

}  // namespace

bool DeviceBatch::is_wanted() const { return !is_dropped(*run); }
bool DeviceCall::is_wanted() const { return !is_dropped(*run); }

void DeviceRun::close() {
  std::atomic_ref<const void*>(run.stack_limit).store(dropped, std::memory_order_relaxed);
  std::unique_lock lock(mutex);
  ended.wait(lock, [this] { return under_way.load(std::memory_order_acquire) == 0; });
  pool = nullptr;
}

void DeviceRun::begin() {
  under_way.fetch_add(1, std::memory_order_relaxed);
  pool->hold();
}

void DeviceRun::end(Task& task) {
  pool->inject(task);
  pool->release_hold();
  if (under_way.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  const std::lock_guard lock(mutex);
  ended.notify_all();
}

void DeviceRun::keep(Task& task, Task*& waiting) {
  pool->hold();
  task.next = waiting;
  waiting = &task;
}

void DeviceRun::release(Task*& waiting) {
  if (!pool) return;
  while (Task* task = waiting) {
    waiting = task->next;
    task->next = nullptr;
    pool->inject(*task);
    pool->release_hold();
  }
}

}  // namespace raddle::vm
