#pragma once
// Work stealing: a deque for each worker; idle ones take the oldest task of somebody else's.
// Source: Blumofe, Leiserson, "Scheduling Multithreaded Computations by Work Stealing" (JACM 1999).
#include <algorithm>
#include <memory>

#include "vm/schedule/meter.hpp"
#include "vm/schedule/task_queue.hpp"
#include "vm/schedule/work_stealing_deque.hpp"

namespace raddle::vm {

/// One of the two schedulers; QueueTree is the other. What both offer, `self` being the worker that calls:
///   push(self, task)              makes it ready; @return whether sleepers are to be told
///   take(self, has_moved)         a task of its own: the next one, with a filter only if it is wanted
///   take_oldest(self)             the same, but in another order: for tests
///   take_elsewhere(self, random, has_moved)
///                                 somebody else's; nullptr does not mean that there is none
///   start_looking(self)           it has found nothing and will call take_elsewhere again
///   stop_looking(self)            and now it does not; @return a task that came meanwhile
///   has_own(self)                 a hint
///   waiting(self)                 how many tasks lie where this one would look first; a hint
///   is_empty()                    true means that each queue was empty at some moment of the call
///   drain(self)                   all tasks of its own, when it leaves
/// `has_moved` becomes true if other tasks have moved to another queue: sleepers are to be told.
template <typename Meter = NoMeter>
class StealingQueues {
 public:
  explicit StealingQueues(unsigned capacity, Meter meter = {})
      : capacity_(capacity),
        meter_(meter),
        deques_(std::make_unique<WorkStealingDeque[]>(capacity)),
        lines_(std::make_unique<Lines[]>(capacity)) {}

  bool push(unsigned self, Task& task) {
    meter_.write(lines_[self].bottom, self);
    deques_[self].push(&task);
    return true;
  }
  bool push(unsigned self, TaskBatch batch) {
    meter_.write(lines_[self].bottom, self);
    deques_[self].push(batch);
    return true;
  }
  template <typename Filter = WorkStealingDeque::AnyTask>
  Task* take(unsigned self, bool&, const Filter& is_wanted = {}) {
    meter_.read(lines_[self].top, self);
    meter_.write(lines_[self].bottom, self);
    return deques_[self].take(is_wanted);
  }
  Task* take_oldest(unsigned self) { return deques_[self].steal(); }
  Task* take_elsewhere(unsigned self, std::uint64_t random, bool& has_moved) {
    unsigned victim = static_cast<unsigned>(random % capacity_);
    for (unsigned i = 0; i < capacity_; ++i, victim = victim + 1 == capacity_ ? 0 : victim + 1) {
      if (victim == self) continue;
      if (Task* task = steal(victim, self, has_moved)) return task;
    }
    return nullptr;
  }
  void start_looking(unsigned) {}
  Task* stop_looking(unsigned) { return nullptr; }
  bool has_own(unsigned self) const { return !deques_[self].is_empty(); }
  std::int64_t waiting(unsigned self) const { return deques_[self].size(); }
  bool is_empty() const {
    for (unsigned i = 0; i < capacity_; ++i)
      if (!deques_[i].is_empty()) return false;
    return true;
  }
  TaskBatch drain(unsigned self) {
    TaskBatch all;
    while (Task* task = deques_[self].take()) all.add(*task);
    return all;
  }

 private:
  struct Lines {  // of a deque; apart from it, as even empty members would take a cache line there
    typename Meter::Line top, bottom;
  };

  /// The oldest task, and where there are many a share of them: else all workers would queue up for those of one.
  Task* steal(unsigned victim, unsigned self, bool& has_moved) {
    constexpr std::int64_t most = 256;
    meter_.read(lines_[victim].top, self);
    meter_.read(lines_[victim].bottom, self);
    if (deques_[victim].is_empty()) return nullptr;
    meter_.write(lines_[victim].top, self);
    Task* const oldest = deques_[victim].steal();
    const std::int64_t share = std::min(deques_[victim].size() / (2 * std::int64_t{capacity_}), most);
    for (std::int64_t i = 0; oldest && i < share; ++i) {
      meter_.write(lines_[victim].top, self);
      Task* const other = deques_[victim].steal();
      if (!other) break;
      meter_.write(lines_[self].bottom, self);
      deques_[self].push(other);
      has_moved = true;
    }
    return oldest;
  }

  const unsigned capacity_;
  [[no_unique_address]] Meter meter_;
  const std::unique_ptr<WorkStealingDeque[]> deques_;
  const std::unique_ptr<Lines[]> lines_;
};

}  // namespace raddle::vm
