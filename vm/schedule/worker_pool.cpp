#include "vm/schedule/worker_pool.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <system_error>
#include <thread>

#include "vm/schedule/pool_state.hpp"
#include "vm/schedule/signal_stack.hpp"
#include "vm/schedule/stack_limit.hpp"
#include "vm/schedule/work_search.hpp"

namespace raddle::vm {

static Topology topology_for(const PoolOptions& options, unsigned capacity) {
  if (options.scheduler != Scheduler::tree) return {};
  return options.domain_of_worker.empty() ? topology_of_machine(capacity) : Topology{options.domain_of_worker, {}};
}

WorkerPool::State::State(unsigned worker_count, const PoolOptions& options)
    : topology(topology_for(options, std::max(worker_count, options.capacity))),
      gate(worker_count),
      when_idle(options.when_idle),
      scheduler_seed(options.scheduler_seed),
      inlining(options.inlining),
      leaf_room_limit(options.leaf_room_limit),
      reduce(options.reduce),
      wanted(worker_count),
      is_working(std::max(worker_count, options.capacity), false) {
  std::fill_n(is_working.begin(), worker_count, true);
  if (options.scheduler == Scheduler::stealing)
    queues.emplace<StealingQueues<>>(static_cast<unsigned>(is_working.size()));
  else
    queues.emplace<QueueTree<>>(topology.domain_of_worker, options.order);
}

// ---------------------------------------------------------------- the loop

Task* WorkerPool::State::steal_fork(Worker& thief) {
  const std::size_t count = workers.size();
  const std::size_t start = thief.perturbation_.next() % count;
  for (std::size_t i = 0; i < count; ++i) {
    Worker& victim = *workers[(start + i) % count];
    if (&victim == &thief) continue;
    if (Task* fork = victim.state_->forks.steal()) return fork;
  }
  return nullptr;
}

/// Of one worker, for WorkSearch. Queues is one of the two schedulers: found once, not for each task.
template <typename Queues>
struct WorkerPool::Sources {
  State& pool;
  Queues& queues;
  Worker& worker;
  bool was_injected = false;  ///< what it has found last that was not its own

  /// Urgent ones, its own, injected, somebody else's, those that may wait.
  Task* find() {
    if (worker.perturbation_.is_on())
      if (Task* task = take_perturbed()) return task;
    if (Task* task = pool.prioritised.take_urgent()) return task;
    bool has_moved = false;
    Task* const own = queues.take(worker.index_, has_moved);
    if (has_moved) pool.gate.notify_one();
    if (own) return own;
    Task* const injected = take_injected();
    Task* const task = injected ? injected : take_elsewhere();
    if (task) was_injected = injected != nullptr;
    return task;
  }
  Task* take_injected() {
    Task* const task = pool.injected.take();
    if (task && pool.take_quiet()) pool.gate.notify_one();
    return task;
  }
  Task* take_elsewhere() {
    bool has_moved = false;
    Task* const task = queues.take_elsewhere(worker.index_, worker.perturbation_.next(), has_moved);
    if (has_moved) pool.gate.notify_one();
    if (task) return task;
    Task* const fork = pool.steal_fork(worker);
    return fork ? fork : pool.prioritised.take_any();
  }
  // With a scheduler seed: any order that the language allows must give the same results.
  Task* take_perturbed() {
    switch (worker.perturbation_.next() % 4) {
      case 0: return queues.take_oldest(worker.index_);
      case 1: return take_injected();
      case 2: return take_elsewhere();
      case 3: worker.perturbation_.yield(); return nullptr;
    }
    return nullptr;
  }
  bool is_worth_looking() const { return !was_injected || pool.holds.load(std::memory_order_relaxed) == 0; }
  void become_hungry() {
    pool.hungry.fetch_add(1, std::memory_order_relaxed);
    queues.start_looking(worker.index_);
  }
  static void pause() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(1);
    while (std::chrono::steady_clock::now() < end) {
    }
  }
  void become_busy() {
    pool.hungry.fetch_sub(1, std::memory_order_relaxed);
    prepare_sleep();
  }
  void prepare_sleep() {
    if (Task* task = queues.stop_looking(worker.index_)) worker.push(*task);
  }
  bool all_empty() {
    if (worker.index_ >= pool.wanted.load(std::memory_order_seq_cst)) return false;  // it leaves
    if (!pool.injected.is_empty() || !pool.prioritised.is_empty() || !queues.is_empty()) return false;
    for (const std::unique_ptr<Worker>& other : pool.workers)
      if (!other->state_->forks.is_empty()) return false;
    return true;
  }
  void announce() {
    // of several workers that become hungry the last one sees all of them
    if (pool.when_idle && pool.hungry.load(std::memory_order_seq_cst) >=
                              static_cast<std::int32_t>(pool.wanted.load(std::memory_order_relaxed)))
      pool.when_idle();
    pool.gate.announce();
  }
  void cancel() { pool.gate.cancel(); }
};

void WorkerPool::State::work(Worker& worker) noexcept {
  thread_local const SignalStack stack;
  {
    const std::lock_guard lock(roster_mutex);  // against stop()
    if (wanted.load(std::memory_order_relaxed) == 0) return;
    worker.state_->forks.set_stack_limit(stack_limit());
  }
  with_queues([&](auto& all) { work_with(all, worker); });
}

template <typename Queues>
void WorkerPool::State::work_with(Queues& all, Worker& worker) {
  using Search = WorkSearch<Sources<Queues>>;
  Search search({*this, all, worker}, static_cast<unsigned>(workers.size()));
  do {
    while (worker.index_ < wanted.load(std::memory_order_relaxed)) {
      Task* task = nullptr;
      switch (search.next(task)) {
        case Search::Next::run:
          // while it was looked for the run may have been stopped: by the very worker that has made the task
          if (wanted.load(std::memory_order_relaxed) != 0)
            task->run(worker);
          else
            worker.push(*task);  // it is freed with the run
          break;
        case Search::Next::look_again: break;
        case Search::Next::sleep:
          if (gate.sleep(nothing_injected())) break;
          search.stop();
          return;
      }
    }
    search.stop();
  } while (!leave(worker));
}

/// @return false if it is wanted again
bool WorkerPool::State::leave(Worker& worker) {
  const std::lock_guard lock(roster_mutex);
  const unsigned remaining = wanted.load(std::memory_order_relaxed);
  if (remaining == 0) return true;
  if (worker.index_ < remaining) return false;
  TaskBatch left = with_queues([&](auto& all) { return all.drain(worker.index_); });
  while (Task* task = left.take_first()) {
    injected.push(*task);
    gate.notify_one();
  }
  gate.notify_one();  // it may have been woken for a task that it has not looked for
  is_working[worker.index_] = false;
  gate.remove_worker(nothing_injected());
  return true;
}

/// With the roster's mutex held. @return false if the system has no thread for it
bool WorkerPool::State::start_thread(unsigned index) {
  try {
    threads[index] = std::jthread([this, index] {
      topology.bind(index);
      work(*workers[index]);
    });
  } catch (const std::system_error&) {
    return false;
  }
  return true;
}

/// There is no thread for this worker, which has not begun: it is not wanted, nor are those after it. With the roster's
/// mutex held.
void WorkerPool::State::do_without(unsigned index) {
  if (wanted.load(std::memory_order_relaxed) > index) wanted.store(index, std::memory_order_seq_cst);
  is_working[index] = false;
  gate.remove_worker(nothing_injected());
}

// ---------------------------------------------------------------- WorkerPool

WorkerPool::WorkerPool(unsigned worker_count, const PoolOptions& options)
    : state_(std::make_unique<State>(worker_count, options)) {
  for (unsigned i = 0; i < state_->is_working.size(); ++i)
    state_->workers.push_back(std::unique_ptr<Worker>(new Worker(*this, i)));
}
WorkerPool::~WorkerPool() { state_->workers.clear(); }

unsigned WorkerPool::capacity() const { return static_cast<unsigned>(state_->workers.size()); }

Worker& WorkerPool::worker(unsigned index) const { return *state_->workers[index]; }

unsigned WorkerPool::domain_of(unsigned worker) const {
  const std::vector<unsigned>& domains = state_->topology.domain_of_worker;
  return domains.empty() ? 0 : domains[worker];
}

void WorkerPool::inject(Task& task) {
  state_->injected.push(task);
  state_->gate.notify_one();
}

void WorkerPool::inject(TaskBatch tasks) {
  if (tasks.count == 0) return;
  state_->quiet.fetch_add(tasks.count - 1, std::memory_order_relaxed);
  state_->injected.push(tasks);
  state_->gate.notify_one();
}

/// Of the injected tasks for which nobody was woken there is one less: now somebody is to be. @return false: there is
/// none
bool WorkerPool::State::take_quiet() {
  std::size_t count = quiet.load(std::memory_order_relaxed);
  while (count != 0 && !quiet.compare_exchange_weak(count, count - 1, std::memory_order_relaxed)) {
  }
  return count != 0;
}

void WorkerPool::hold() {
  state_->holds.fetch_add(1, std::memory_order_relaxed);
  state_->gate.hold();
}
void WorkerPool::release_holds(std::size_t count) {
  if (count == 0) return;
  state_->holds.fetch_sub(static_cast<decltype(state_->holds)::value_type>(count), std::memory_order_relaxed);
  state_->gate.release_hold(state_->nothing_injected(), count);
}

void WorkerPool::run() {
  State& state = *state_;
  {
    const std::lock_guard lock(state.roster_mutex);
    state.gate.restart();
    state.is_running = true;
    state.threads.resize(state.workers.size());
    bool has_threads = true;
    for (unsigned i = 1; i < state.workers.size(); ++i) {
      if (!state.is_working[i]) continue;
      has_threads = has_threads && state.start_thread(i);
      if (!has_threads) state.do_without(i);
    }
  }
  const cpu_set_t before = state.topology.bind(0);
  state.work(*state.workers[0]);  // the caller is worker 0
  if (!state.topology.cpus_of_domain.empty()) pthread_setaffinity_np(pthread_self(), sizeof before, &before);
  std::vector<std::jthread> ended;
  {
    const std::lock_guard lock(state.roster_mutex);
    state.is_running = false;
    ended = std::move(state.threads);
    state.threads.clear();
  }
}

void WorkerPool::resize(unsigned worker_count) {
  State& state = *state_;
  const std::lock_guard lock(state.roster_mutex);
  if (stopped()) return;
  state.wanted.store(worker_count, std::memory_order_seq_cst);
  for (unsigned i = 1; i < state.workers.size(); ++i) {
    const bool is_wanted = i < worker_count;
    if (is_wanted && !state.is_working[i]) {
      state.is_working[i] = true;
      state.gate.add_worker();
      // joins the one that has left, which needs no lock any more
      if (state.is_running && !state.start_thread(i)) return state.do_without(i);
    } else if (!is_wanted && state.is_working[i] && !state.is_running) {
      state.is_working[i] = false;
      state.gate.remove_worker(state.nothing_injected());
    }
  }
  state.gate.notify_all();  // those that sleep leave, too
}

void WorkerPool::stop() {
  const std::lock_guard lock(state_->roster_mutex);
  state_->wanted.store(0, std::memory_order_relaxed);  // relaxed: the gate's mutex orders the rest
  for (const std::unique_ptr<Worker>& worker : state_->workers) worker->state_->forks.interrupt();
  state_->gate.end();
}
bool WorkerPool::stopped() const { return state_->wanted.load(std::memory_order_relaxed) == 0; }

std::uint64_t WorkerPool::leaf_calls_shared() const {
  std::uint64_t count = 0;
  for (const std::unique_ptr<Worker>& worker : state_->workers) count += worker->state_->forks.shared_count();
  return count;
}

}  // namespace raddle::vm
