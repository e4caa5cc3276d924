#pragma once
// Tasks with a priority: what is above 0 goes before all other tasks, what is below after them. And tasks that wait
// until nothing without a priority is left.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <utility>

#include "vm/schedule/task_queue.hpp"

namespace raddle::vm {

/// Any thread. One place for all workers, under a lock, so that none is overtaken by another worker's: who asks for an
/// order does not have calls so short that this counts. The counts are written under it and read by any: seq_cst, as
/// that of TaskQueue is.
class PriorityTasks {
 public:
  /// @param priority  not 0; of equal ones the first comes first
  void push(Task& task, std::int32_t priority) { push_at(task, {2 * std::int64_t{priority}, 0}); }
  /// Goes after all that has no priority, and before what is below 0. @param order  the lowest comes first
  void push_last(Task& task, std::int64_t order) { push_at(task, {after_0, -order}); }
  /// The highest above 0; null: there is none.
  Task* take_urgent() { return has_urgent() ? take({1, 0}) : nullptr; }
  /// A hint.
  bool has_urgent() const { return urgent_.load(std::memory_order_relaxed) != 0; }
  /// The highest, where there is nothing else to do.
  Task* take_any() { return is_empty() ? nullptr : take(lowest); }
  bool is_empty() const {
    return urgent_.load(std::memory_order_seq_cst) == 0 && late_.load(std::memory_order_seq_cst) == 0;
  }

 private:
  using Rank = std::pair<std::int64_t, std::int64_t>;  // twice the priority, and within it
  static constexpr std::int64_t after_0 = -1;
  static constexpr Rank lowest{std::numeric_limits<std::int64_t>::min(), 0};
  std::atomic<std::size_t>& count_of(Rank rank) { return rank.first > 0 ? urgent_ : late_; }
  void push_at(Task& task, Rank rank) {
    const std::lock_guard lock(mutex_);
    tasks_[rank].add(task);
    count_of(rank).fetch_add(1, std::memory_order_seq_cst);
  }
  Task* take(Rank least) {
    const std::lock_guard lock(mutex_);
    if (tasks_.empty() || tasks_.begin()->first < least) return nullptr;
    const auto first = tasks_.begin();
    Task* const task = first->second.take_first();
    count_of(first->first).fetch_sub(1, std::memory_order_seq_cst);
    if (first->second.count == 0) tasks_.erase(first);
    return task;
  }

  std::mutex mutex_;
  std::map<Rank, TaskBatch, std::greater<>> tasks_;  // guarded by mutex_; no batch is empty
  std::atomic<std::size_t> urgent_{0}, late_{0};     // of tasks_
};

}  // namespace raddle::vm
