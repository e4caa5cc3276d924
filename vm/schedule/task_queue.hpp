#pragma once
// A queue that any thread may use: tasks injected from outside, and what workers share in the queue tree.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "vm/schedule/task.hpp"

namespace raddle::vm {

/// Which task a queue gives first.
enum class QueueOrder : std::uint8_t { fifo, lifo };

/// Tasks that move together, linked by Task::next.
struct TaskBatch {
  Task* first = nullptr;
  Task* last = nullptr;
  std::size_t count = 0;

  void add(Task& task) {
    task.next = nullptr;
    (last ? last->next : first) = &task;
    last = &task;
    ++count;
  }
  Task* take_first() {
    Task* task = first;
    if (!task) return nullptr;
    first = task->next;
    if (!first) last = nullptr;
    --count;
    return task;
  }
};

class TaskQueue {
 public:
  explicit TaskQueue(QueueOrder order = QueueOrder::fifo) : order_(order) {}

  /// @return how many tasks there are now
  std::size_t push(TaskBatch batch) {
    const std::lock_guard lock(mutex_);
    if (batch.count == 0) return tasks_.count;
    if (order_ == QueueOrder::fifo) {
      (tasks_.last ? tasks_.last->next : tasks_.first) = batch.first;
      tasks_.last = batch.last;
    } else {
      batch.last->next = tasks_.first;
      tasks_.first = batch.first;
      if (!tasks_.last) tasks_.last = batch.last;
    }
    tasks_.count += batch.count;
    count_.store(tasks_.count, std::memory_order_seq_cst);  // seq_cst: before the look for sleepers (IdleGate)
    return tasks_.count;
  }
  std::size_t push(Task& task) {
    TaskBatch batch;
    batch.add(task);
    return push(batch);
  }

  /// At most `limit` tasks.
  TaskBatch take(std::size_t limit) {
    TaskBatch batch;
    if (is_empty()) return batch;
    const std::lock_guard lock(mutex_);
    while (batch.count < limit) {
      Task* task = tasks_.take_first();
      if (!task) break;
      batch.add(*task);
    }
    count_.store(tasks_.count, std::memory_order_relaxed);
    return batch;
  }
  Task* take() { return take(1).first; }

  bool is_empty() const { return count_.load(std::memory_order_seq_cst) == 0; }
  /// A hint.
  std::size_t size() const { return count_.load(std::memory_order_relaxed); }

 private:
  const QueueOrder order_;
  std::mutex mutex_;
  TaskBatch tasks_;                    // guarded by mutex_
  std::atomic<std::size_t> count_{0};  // of tasks_: written under mutex_, read by any
};

}  // namespace raddle::vm
