#pragma once
// What workers and their pool have together.
#include <algorithm>
#include <mutex>
#include <thread>
#include <variant>

#include "vm/schedule/idle_gate.hpp"
#include "vm/schedule/leaf_forks.hpp"
#include "vm/schedule/priority_tasks.hpp"
#include "vm/schedule/queue_tree.hpp"
#include "vm/schedule/stealing_queues.hpp"
#include "vm/schedule/topology.hpp"
#include "vm/schedule/worker_pool.hpp"

namespace raddle::vm {

using Queues = std::variant<std::monostate, StealingQueues<>, QueueTree<>>;

struct WorkerPool::State {
  State(unsigned worker_count, const PoolOptions& options);

  /// The two schedulers behind one interface: a branch, as a virtual call would cost more than a push.
  template <typename Use>
  decltype(auto) with_queues(const Use& use) {
    if (auto* stealing = std::get_if<StealingQueues<>>(&queues)) [[likely]]
      return use(*stealing);
    return with_tree(use);
  }
  template <typename Use>
  [[gnu::noinline]] decltype(auto) with_tree(const Use& use) {  // else its registers are saved for stealing, too
    return use(*std::get_if<QueueTree<>>(&queues));
  }

  TaskQueue injected;
  /// Of those so many, of batches, for which nobody was woken yet. Relaxed: who takes one of a batch finds it in the
  /// queue behind the count, by the queue's mutex; whose it is does not matter.
  std::atomic<std::size_t> quiet{0};
  PriorityTasks prioritised;
  const Topology topology;  // of the tree
  Queues queues;
  IdleGate gate;
  const std::function<void()> when_idle;
  const std::uint64_t scheduler_seed;
  const Inlining inlining;
  const std::uint64_t leaf_room_limit;
  decltype(raddle_leaf_worker::reduce) const reduce;
  alignas(64) std::atomic<std::int32_t> hungry{0};  // workers that look for work or sleep; a hint, so relaxed
  alignas(64) std::atomic<std::int32_t> holds{0};   // as the gate has them, for workers to look at; a hint, so relaxed
  /// Workers from this index on leave; 0: the run is stopped. Written under the roster's mutex, read by all workers
  /// between tasks (relaxed: a wish) and, seq_cst, between announce() and sleep, so that nobody sleeps through it.
  alignas(64) std::atomic<unsigned> wanted;
  std::vector<std::unique_ptr<Worker>> workers;

  std::mutex roster_mutex;       // guards all below
  bool is_running = false;       // there are threads
  std::vector<bool> is_working;  // counted by the gate
  std::vector<std::jthread> threads;

  Task* steal_fork(Worker& thief);
  bool take_quiet();
  void work(Worker& worker) noexcept;  // no task throws: what does ends the process, while the other workers are there
  template <typename Queues>
  void work_with(Queues& all, Worker& worker);
  bool leave(Worker& worker);
  bool start_thread(unsigned index);
  void do_without(unsigned index);
  const auto nothing_injected() {
    return [this] { return injected.is_empty() && prioritised.is_empty(); };
  }
};

struct Worker::State {
  State(Worker& worker, WorkerPool::State& pool) : forks(worker, pool.hungry, pool.inlining) {
    forks.room_limit = pool.leaf_room_limit;
    forks.reduce = pool.reduce;
  }
  LeafForks forks;
};

}  // namespace raddle::vm
