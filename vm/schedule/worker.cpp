#include <algorithm>
#include <chrono>
#include <thread>

#include "vm/schedule/pool_state.hpp"
#include "vm/schedule/worker_pool.hpp"

namespace raddle::vm {

/// Whether there is stack for a whole tree of calls more.
static bool has_stack_left(const void* limit) {
  constexpr std::ptrdiff_t enough_bytes = 1 << 20;
  return static_cast<const std::byte*>(__builtin_frame_address(0)) - static_cast<const std::byte*>(limit) >
         enough_bytes;
}

Worker::Worker(WorkerPool& pool, unsigned index)
    : pool_(pool),
      index_(index),
      perturbation_(pool.state_->scheduler_seed, index),
      state_(std::make_unique<State>(*this, *pool.state_)) {}
Worker::~Worker() = default;

void Worker::push_own(Task& task) {
  WorkerPool::State& pool = *pool_.state_;
  if (pool.with_queues([&](auto& all) { return all.push(index_, task); })) pool.gate.notify_one();
}

void Worker::push(TaskBatch batch) {
  WorkerPool::State& pool = *pool_.state_;
  if (!pool.with_queues([&](auto& all) { return all.push(index_, batch); })) return;
  for (std::size_t i = 0; i < std::min(batch.count, pool.workers.size()); ++i) pool.gate.notify_one();
}

Task* Worker::take_own_within(const void* begin, const void* end) {
  WorkerPool::State& pool = *pool_.state_;
  const auto is_wanted = [=](const Task* task) { return std::less_equal()(begin, task) && std::less()(task, end); };
  bool has_moved = false;
  Task* const task = pool.with_queues([&](auto& all) { return all.take(index_, has_moved, is_wanted); });
  if (has_moved) pool.gate.notify_one();
  return task;
}

bool Worker::take_back(Task& task) { return take_own_within(&task, &task + 1); }

Task* Worker::take_next_within(const void* begin, const void* end) {
  const WorkerPool::State& pool = *pool_.state_;
  const bool is_next =
      index_ < pool.wanted.load(std::memory_order_relaxed) && !pool.prioritised.has_urgent() && !perturbation_.is_on();
  return is_next ? take_own_within(begin, end) : nullptr;
}

void Worker::push_by_priority(Task& task, std::int32_t priority) {
  pool_.state_->prioritised.push(task, priority);
  pool_.state_->gate.notify_one();
}

void Worker::push_last(Task& task, std::int64_t order) {
  pool_.state_->prioritised.push_last(task, order);
  pool_.state_->gate.notify_one();
}

bool Worker::queues_all() {
  if (pool_.stopped()) return true;  // what goes to the queue now is freed with the run
  if (pool_.state_->inlining == Inlining::never) return true;
  return perturbation_.is_on() && perturbation_.one_in(2);
}

bool Worker::others_are_hungry() {
  if (queues_all()) return true;
  if (perturbation_.is_on()) return false;
  return pool_.state_->hungry.load(std::memory_order_relaxed) > 0 && !has_own_work();
}

unsigned Worker::hungry_workers() const {
  const std::int32_t hungry = pool_.state_->hungry.load(std::memory_order_relaxed);
  return hungry > 0 ? static_cast<unsigned>(hungry) : 0;
}

bool Worker::has_own_work() const {
  return pool_.state_->with_queues([this](auto& queues) { return queues.has_own(index_); });
}

std::int64_t Worker::waiting_tasks() const {
  return pool_.state_->with_queues([this](auto& queues) { return queues.waiting(index_); });
}

LeafForks& Worker::leaf_worker() { return state_->forks; }
void Worker::announce_work() { pool_.state_->gate.notify_one(); }

void Worker::wait_for(const ForkTask& task) {
  constexpr unsigned spins = 64, yields = 1024;
  constexpr std::chrono::microseconds nap(50);  // the other one is at something long, and nobody shares
  WorkerPool::State& pool = *pool_.state_;
  pool.hungry.fetch_add(1, std::memory_order_relaxed);
  for (unsigned turn = 0; !task.has_ended(); ++turn) {
    // what it runs lies above the call that waits: there must be stack for it
    Task* other = has_stack_left(state_->forks.current_stack_limit()) ? pool.steal_fork(*this) : nullptr;
    if (other) {
      pool.hungry.fetch_sub(1, std::memory_order_relaxed);
      other->run(*this);
      pool.hungry.fetch_add(1, std::memory_order_relaxed);
      turn = 0;
    } else if (turn > yields) {
      std::this_thread::sleep_for(nap);
    } else if (turn > spins) {
      std::this_thread::yield();
    }
  }
  pool.hungry.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace raddle::vm
