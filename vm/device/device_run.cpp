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
bool DeviceRun::is_wanted() { return !is_dropped(run); }

void tell(std::span<const EndedCall> calls) {
  while (!calls.empty()) {
    const std::shared_ptr<CallReceiver> receiver = calls.front().call->receiver;
    std::size_t count = 1;
    while (count < calls.size() && calls[count].call->receiver == receiver) ++count;
    receiver->ended(calls.first(count));
    calls = calls.subspan(count);
  }
}

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

void DeviceRun::end(TaskBatch tasks) {
  const std::size_t count = tasks.count;
  pool->inject(tasks);
  pool->release_holds(count);
  if (under_way.fetch_sub(count, std::memory_order_acq_rel) != count) return;
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
  TaskBatch tasks;
  while (Task* task = waiting) {
    waiting = task->next;
    tasks.add(*task);
  }
  const std::size_t count = tasks.count;
  pool->inject(tasks);
  pool->release_holds(count);
}

}  // namespace raddle::vm
