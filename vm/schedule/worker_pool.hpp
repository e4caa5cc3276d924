#pragma once
// The workers: one thread each, a work-stealing deque each; idle ones steal, then sleep.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "vm/schedule/perturbation.hpp"

namespace raddle::vm {

class ForkTask;
class LeafForks;
class Worker;
class WorkerPool;

/// When a call whose inputs are set is made on its caller's stack rather than as a task of its own.
enum class Inlining : std::uint8_t {
  adaptive,  ///< while every worker has work
  never,     ///< to see what tasks cost
};

/// Something ready to run: exactly one owner at a time (deque, injection queue, or the worker that runs it).
class Task {
 public:
  /// Runs once; may delete the task.
  virtual void run(Worker& worker) = 0;
  Task* next = nullptr;  ///< for whoever owns the task

 protected:
  ~Task() = default;
};

/// What running code sees of its worker. Only its own thread calls these.
class Worker {
 public:
  ~Worker();
  unsigned index() const { return index_; }
  WorkerPool& pool() const { return pool_; }
  /// Makes a task ready: onto this worker's deque (taken last in, first out by it, oldest first by thieves).
  void push(Task& task);
  /// True if some worker looks for work: a range should be split now, a call be queued.
  bool others_are_hungry();
  /// What compiled leaves are called with.
  LeafForks& leaf_worker();
  /// Wakes a worker if one sleeps: after work was published.
  void announce_work();
  /// Waits for a call that another worker runs; runs shared calls of others meanwhile.
  void wait_for(const ForkTask& task);
  /// For decisions that may go either way.
  Perturbation& perturbation() { return perturbation_; }
  /// Memory from this worker's slabs; any worker may give it back. Sizes up to 4096 bytes are fast, others go to the
  /// heap.
  void* allocate(std::size_t size_bytes);
  void deallocate(void* memory, std::size_t size_bytes);

 private:
  friend class WorkerPool;
  struct State;  // deque, forked calls, slabs
  Worker(WorkerPool& pool, unsigned index);
  WorkerPool& pool_;
  unsigned index_;
  Perturbation perturbation_;
  std::unique_ptr<State> state_;
};

/// Owns the workers; outlives every task. A run uses one pool, once.
class WorkerPool {
 public:
  /// @param worker_count   1 or more
  /// @param scheduler_seed 0: normal; else Perturbation is on, for tests
  explicit WorkerPool(unsigned worker_count, std::uint64_t scheduler_seed = 0, Inlining inlining = Inlining::adaptive);
  ~WorkerPool();

  unsigned worker_count() const;
  /// Makes a task ready from any thread.
  void inject(Task& task);
  /// Something outside (a process, a compilation) will inject a task later: the pool is not quiescent until
  /// release_hold(). Inject first, then release. Any thread.
  void hold();
  void release_hold();
  /// Starts the threads, blocks the caller until the pool is quiescent (no task ready or running, no hold) or stopped.
  void run();
  /// Ends the run early: workers return after their present task; tasks left are not run. Any thread, from a task too.
  void stop();
  bool stopped() const;
  /// Forked calls of leaves that were made tasks. Not while it runs.
  std::uint64_t leaf_calls_shared() const;

 private:
  friend class Worker;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace raddle::vm
