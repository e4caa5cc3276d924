#include "vm/schedule/worker_pool.hpp"

#include <chrono>
#include <mutex>
#include <thread>

#include "vm/memory/slab.hpp"
#include "vm/schedule/idle_gate.hpp"
#include "vm/schedule/leaf_forks.hpp"
#include "vm/schedule/stack_limit.hpp"
#include "vm/schedule/work_stealing_deque.hpp"

namespace raddle::vm {

/// First in, first out, any thread.
class InjectionQueue {
 public:
  void push(Task& task) {
    const std::lock_guard lock(mutex_);
    task.next = nullptr;
    (last_ ? last_->next : first_) = &task;
    last_ = &task;
    count_.fetch_add(1, std::memory_order_seq_cst);  // seq_cst: before the look for sleepers (IdleGate)
  }
  Task* take() {
    if (is_empty()) return nullptr;
    const std::lock_guard lock(mutex_);
    Task* task = first_;
    if (!task) return nullptr;
    first_ = task->next;
    if (!first_) last_ = nullptr;
    count_.fetch_sub(1, std::memory_order_relaxed);
    return task;
  }
  bool is_empty() const { return count_.load(std::memory_order_seq_cst) == 0; }

 private:
  std::mutex mutex_;
  Task* first_ = nullptr;
  Task* last_ = nullptr;
  std::atomic<std::size_t> count_{0};
};

/// Whether there is stack for a whole tree of calls more.
static bool has_stack_left(const void* limit) {
  constexpr std::ptrdiff_t enough_bytes = 1 << 20;
  return static_cast<const std::byte*>(__builtin_frame_address(0)) - static_cast<const std::byte*>(limit) >
         enough_bytes;
}

struct WorkerPool::State {
  State(unsigned worker_count, std::uint64_t seed, Inlining inlining)
      : gate(worker_count), scheduler_seed(seed), inlining(inlining) {}

  SlabDepot depot;
  InjectionQueue injected;
  IdleGate gate;
  const std::uint64_t scheduler_seed;
  const Inlining inlining;
  alignas(64) std::atomic<std::int32_t> hungry{0};  // workers that look for work or sleep; a hint, so relaxed
  alignas(64) std::atomic<bool> stopped{false};
  std::vector<std::unique_ptr<Worker>> workers;
  // takes: own youngest, injected, stolen
  Task* find_task(Worker& worker);
  Task* steal(Worker& thief);
  Task* steal_fork(Worker& thief);
  Task* take_perturbed(Worker& worker);
  bool all_empty() const;
  void work(Worker& worker);
};

struct Worker::State {
  State(Worker& worker, WorkerPool::State& pool) : forks(worker, pool.hungry, pool.inlining), slabs(pool.depot) {}
  WorkStealingDeque deque;
  LeafForks forks;
  SlabCache slabs;
};

// ---------------------------------------------------------------- Worker

Worker::Worker(WorkerPool& pool, unsigned index)
    : pool_(pool),
      index_(index),
      perturbation_(pool.state_->scheduler_seed, index),
      state_(std::make_unique<State>(*this, *pool.state_)) {}
Worker::~Worker() = default;

void Worker::push(Task& task) {
  state_->deque.push(&task);
  pool_.state_->gate.notify_one();
}

bool Worker::others_are_hungry() {
  if (pool_.state_->inlining == Inlining::never) return true;
  if (perturbation_.is_on()) return perturbation_.one_in(2);
  return pool_.state_->hungry.load(std::memory_order_relaxed) > 0 && state_->deque.is_empty();
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
    Task* other = has_stack_left(state_->forks.stack_limit) ? pool.steal_fork(*this) : nullptr;
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

void* Worker::allocate(std::size_t size_bytes) { return state_->slabs.allocate(size_bytes); }
void Worker::deallocate(void* memory, std::size_t size_bytes) { state_->slabs.deallocate(memory, size_bytes); }

// ---------------------------------------------------------------- the loop

Task* WorkerPool::State::steal(Worker& thief) {
  const std::size_t count = workers.size();
  if (count == 1) return nullptr;
  const std::size_t start = thief.perturbation_.next() % count;
  for (std::size_t i = 0; i < count; ++i) {
    Worker& victim = *workers[(start + i) % count];
    if (&victim == &thief) continue;
    if (Task* task = victim.state_->deque.steal()) return task;
    if (Task* fork = victim.state_->forks.steal()) return fork;
  }
  return nullptr;
}

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

// With a scheduler seed: any order that the language allows must give the same results.
Task* WorkerPool::State::take_perturbed(Worker& worker) {
  switch (worker.perturbation_.next() % 4) {
    case 0: return worker.state_->deque.steal();  // the oldest of its own
    case 1: return injected.take();
    case 2: return steal(worker);
    case 3: std::this_thread::yield(); return nullptr;
  }
  return nullptr;
}

Task* WorkerPool::State::find_task(Worker& worker) {
  if (worker.perturbation_.is_on())
    if (Task* task = take_perturbed(worker)) return task;
  if (Task* task = worker.state_->deque.take()) return task;
  if (Task* task = injected.take()) return task;
  return steal(worker);
}

bool WorkerPool::State::all_empty() const {
  if (!injected.is_empty()) return false;
  for (const std::unique_ptr<Worker>& worker : workers)
    if (!worker->state_->deque.is_empty() || !worker->state_->forks.is_empty()) return false;
  return true;
}

void WorkerPool::State::work(Worker& worker) {
  constexpr int spins = 64;  // a thief that found nothing looks again before it sleeps: a wake-up costs 19 us
  worker.state_->forks.stack_limit = stack_limit();
  while (!stopped.load(std::memory_order_relaxed)) {
    if (Task* task = find_task(worker)) {
      task->run(worker);
      continue;
    }
    hungry.fetch_add(1, std::memory_order_relaxed);
    Task* task = nullptr;
    bool over = false;
    for (int i = 0; i < spins && workers.size() > 1 && !task; ++i) task = find_task(worker);
    while (!task && !over && !stopped.load(std::memory_order_relaxed)) {
      const std::uint64_t key = gate.announce();
      if (!all_empty()) {
        gate.cancel();
        task = find_task(worker);
        continue;
      }
      over = !gate.sleep(key, [this] { return injected.is_empty(); });
      if (!over) task = find_task(worker);
    }
    hungry.fetch_sub(1, std::memory_order_relaxed);
    if (task) task->run(worker);
    if (over) return;
  }
}

// ---------------------------------------------------------------- WorkerPool

WorkerPool::WorkerPool(unsigned worker_count, std::uint64_t scheduler_seed, Inlining inlining)
    : state_(std::make_unique<State>(worker_count, scheduler_seed, inlining)) {
  for (unsigned i = 0; i < worker_count; ++i) state_->workers.push_back(std::unique_ptr<Worker>(new Worker(*this, i)));
}
WorkerPool::~WorkerPool() { state_->workers.clear(); }

unsigned WorkerPool::worker_count() const { return static_cast<unsigned>(state_->workers.size()); }

void WorkerPool::inject(Task& task) {
  state_->injected.push(task);
  state_->gate.notify_one();
}

void WorkerPool::hold() { state_->gate.hold(); }
void WorkerPool::release_hold() {
  state_->gate.release_hold([this] { return state_->injected.is_empty(); });
}

void WorkerPool::run() {
  state_->gate.restart();
  std::vector<std::jthread> threads;
  for (std::size_t i = 1; i < state_->workers.size(); ++i)
    threads.emplace_back([this, i] { state_->work(*state_->workers[i]); });
  state_->work(*state_->workers[0]);  // the caller is worker 0
}

void WorkerPool::stop() {
  state_->stopped.store(true, std::memory_order_relaxed);  // relaxed: a wish; the gate's mutex orders the rest
  state_->gate.end();
}
std::uint64_t WorkerPool::leaf_calls_shared() const {
  std::uint64_t count = 0;
  for (const std::unique_ptr<Worker>& worker : state_->workers) count += worker->state_->forks.shared_count();
  return count;
}
bool WorkerPool::stopped() const { return state_->stopped.load(std::memory_order_relaxed); }

}  // namespace raddle::vm
