#pragma once
// The workers: one thread each, and one of two schedulers; idle ones look for work, then sleep.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "vm/program/leaf_abi.hpp"
#include "vm/schedule/perturbation.hpp"
#include "vm/schedule/task_queue.hpp"

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

/// Where ready tasks lie. See stealing_queues.hpp and queue_tree.hpp.
enum class Scheduler : std::uint8_t { stealing, tree };

struct PoolOptions {
  Scheduler scheduler = Scheduler::stealing;
  QueueOrder order = QueueOrder::lifo;  ///< of the tree's queues
  std::uint64_t scheduler_seed = 0;     ///< not 0: Perturbation is on, for tests
  Inlining inlining = Inlining::adaptive;
  /// Called by a worker that goes to sleep when all others look for work or sleep, too: may inject. null: nothing
  std::function<void()> when_idle = {};
  std::uint64_t leaf_room_limit = std::uint64_t{1} << 32U;  ///< bytes of an array of a leaf's own: leaf_rooms.hpp
  decltype(raddle_leaf_worker::reduce) reduce = nullptr;  ///< that leaves call: reduce_points.hpp; null: they call none
  unsigned capacity = 0;                        ///< the most workers that there may be later; 0: as many as at first
  std::vector<unsigned> domain_of_worker = {};  ///< of a tree, `capacity` of them, for tests; empty: as the machine is
};

/// What running code sees of its worker. Only its own thread calls these.
class Worker {
 public:
  ~Worker();
  unsigned index() const { return index_; }
  WorkerPool& pool() const { return pool_; }
  /// Makes a task ready. This worker takes the youngest first (but for QueueOrder::fifo), others the oldest.
  /// @param priority  not 0: the higher come first, those above 0 before all that have none, those below 0 after them
  void push(Task& task, std::int32_t priority = 0) {
    if (priority == 0) [[likely]]
      push_own(task);
    else
      push_by_priority(task, priority);
  }
  /// The same of one that begins something large: it is taken where nothing is left of what has begun, by any worker,
  /// and before what has a priority below 0. @param order  the lowest comes first
  void push_last(Task& task, std::int64_t order);
  /// Makes tasks ready that have no priority, as if they were pushed one by one.
  void push(TaskBatch batch);
  /// Takes a task that this worker has pushed without a priority out of its queue, if it is the next one there.
  /// @pre it lives, though somebody else may have run it
  bool take_back(Task& task);
  /// The task that this worker would run after the present one, if it is one of those. Who goes on with it at once
  /// saves what they have in common.
  /// @param begin, end  the memory in which they lie, of which one lives
  Task* take_next_within(const void* begin, const void* end);
  /// Something lies in this worker's queue that it would run next; a hint.
  bool has_own_work() const;
  /// How many tasks lie in the queues that this worker looks into first; a hint.
  std::int64_t waiting_tasks() const;
  /// True if some worker looks for work: a range should be split now, a call be queued.
  bool others_are_hungry();
  /// How many of all workers look for work; a hint.
  unsigned hungry_workers() const;
  /// True if even what nobody could share is to be queued: the run is stopped, or calls are never inlined.
  bool queues_all();
  /// What compiled leaves are called with.
  LeafForks& leaf_worker();
  /// Wakes a worker if one sleeps: after work was published.
  void announce_work();
  /// Waits for a call that another worker runs; runs shared calls of others meanwhile.
  void wait_for(const ForkTask& task);
  /// For decisions that may go either way.
  Perturbation& perturbation() { return perturbation_; }

 private:
  friend class WorkerPool;
  struct State;  // forked calls
  void push_own(Task& task);
  Task* take_own_within(const void* begin, const void* end);
  void push_by_priority(Task& task, std::int32_t priority);
  Worker(WorkerPool& pool, unsigned index);
  WorkerPool& pool_;
  unsigned index_;
  Perturbation perturbation_;
  std::unique_ptr<State> state_;
};

/// Owns the workers; outlives every task. A run uses one pool, once.
class WorkerPool {
 public:
  /// @param worker_count  1 or more
  explicit WorkerPool(unsigned worker_count, const PoolOptions& options = {});
  ~WorkerPool();

  /// The most workers that there may be: their indices are below it.
  unsigned capacity() const;
  /// It stays where it is as long as the pool.
  Worker& worker(unsigned index) const;
  /// The NUMA domain of a worker, counted from 0; 0 for all with Scheduler::stealing, which does not bind them.
  unsigned domain_of(unsigned worker) const;
  /// Adds workers or removes some, those with the highest indices, at once or while the pool runs. One that is removed
  /// finishes its present task; what else it had is left to the others.
  /// @param worker_count  1 to capacity(). Any thread, from a task too.
  void resize(unsigned worker_count);
  /// Makes a task ready from any thread.
  void inject(Task& task);
  /// The same for many, for which one worker is woken: each that takes one of them wakes the next one.
  void inject(TaskBatch tasks);
  /// Something outside (a process, a compilation) will inject a task later: the pool is not quiescent until
  /// release_hold(). Inject first, then release. Any thread.
  void hold();
  void release_hold() { release_holds(1); }
  void release_holds(std::size_t count);
  /// Starts the threads, fewer if the system has no more, blocks the caller until the pool is quiescent (no task ready
  /// or running, no hold) or stopped.
  void run();
  /// Ends the run early: workers return after their present task, compiled leaves and nested calls in it at once; tasks
  /// left are not run. Any thread, from a task too.
  void stop();
  bool stopped() const;
  /// Forked calls of leaves that were made tasks. Not while it runs.
  std::uint64_t leaf_calls_shared() const;

 private:
  friend class Worker;
  template <typename Queues>
  struct Sources;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace raddle::vm
