#pragma once
// Work stealing: a deque for each worker; idle ones take the oldest task of somebody else's.
// Source: Blumofe, Leiserson, "Scheduling Multithreaded Computations by Work Stealing" (JACM 1999).
#include <memory>

#include "vm/schedule/meter.hpp"
#include "vm/schedule/task_queue.hpp"
#include "vm/schedule/work_stealing_deque.hpp"

namespace raddle::vm {

/// One of the two schedulers; QueueTree is the other. What both offer, `self` being the worker that calls:
///   push(self, task)              makes it ready; @return whether sleepers are to be told
///   take(self)                    a task of its own
///   take_oldest(self)             the same, but in another order: for tests
///   take_elsewhere(self, random)  somebody else's; nullptr does not mean that there is none
///   start_looking(self)           it has found nothing and will call take_elsewhere again
///   stop_looking(self)            and now it does not; @return a task that came meanwhile
///   take_moved(self)              true if tasks have moved since the last call: sleepers are to be told
///   has_own(self)                 a hint
///   is_empty()                    true means that each queue was empty at some moment of the call
///   drain(self)                   all tasks of its own, when it leaves
template <typename Meter = NoMeter>
class StealingQueues {
 public:
  explicit StealingQueues(unsigned capacity, Meter meter = {})
      : capacity_(capacity), meter_(meter), seats_(std::make_unique<Seat[]>(capacity)) {}

  bool push(unsigned self, Task& task) {
    meter_.write(seats_[self].bottom, self);
    seats_[self].deque.push(&task);
    return true;
  }
  Task* take(unsigned self) {
    meter_.write(seats_[self].bottom, self);
    return seats_[self].deque.take();
  }
  Task* take_oldest(unsigned self) { return seats_[self].deque.steal(); }
  Task* take_elsewhere(unsigned self, std::uint64_t random) {
    unsigned victim = static_cast<unsigned>(random % capacity_);
    for (unsigned i = 0; i < capacity_; ++i, victim = victim + 1 == capacity_ ? 0 : victim + 1) {
      if (victim == self) continue;
      if (Task* task = steal(seats_[victim], self)) return task;
    }
    return nullptr;
  }
  void start_looking(unsigned) {}
  Task* stop_looking(unsigned) { return nullptr; }
  bool take_moved(unsigned) { return false; }
  bool has_own(unsigned self) const { return !seats_[self].deque.is_empty(); }
  bool is_empty() const {
    for (unsigned i = 0; i < capacity_; ++i)
      if (!seats_[i].deque.is_empty()) return false;
    return true;
  }
  TaskBatch drain(unsigned self) {
    TaskBatch all;
    while (Task* task = seats_[self].deque.take()) all.add(*task);
    return all;
  }

 private:
  struct Seat {
    WorkStealingDeque deque;
    [[no_unique_address]] typename Meter::Line top;
    [[no_unique_address]] typename Meter::Line bottom;
  };

  Task* steal(Seat& victim, unsigned self) {
    meter_.read(victim.bottom, self);
    if (victim.deque.is_empty()) return nullptr;
    meter_.write(victim.top, self);
    return victim.deque.steal();
  }

  const unsigned capacity_;
  [[no_unique_address]] Meter meter_;
  const std::unique_ptr<Seat[]> seats_;
};

}  // namespace raddle::vm
