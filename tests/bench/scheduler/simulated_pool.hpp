#pragma once
// The scheduler of vm/schedule on a simulated machine: its queues, its search for work, and the steps of its gate are
// the code that really runs; only threads and time are simulated.
#include <deque>
#include <memory>
#include <vector>

#include "tests/bench/scheduler/memory_model.hpp"
#include "vm/schedule/idle_gate.hpp"
#include "vm/schedule/perturbation.hpp"
#include "vm/schedule/queue_tree.hpp"
#include "vm/schedule/stealing_queues.hpp"
#include "vm/schedule/work_search.hpp"

namespace raddle::simulated {

/// Makes `count` tasks of one block each, or is one.
struct BlockTask final : vm::Task {
  enum class Shape : std::uint8_t { flat, halving };  ///< one creator; or each half makes its halves
  BlockTask(Shape shape, std::uint64_t count, unsigned maker) : shape(shape), count(count), maker(maker) {}
  void run(vm::Worker&) override {}  // SimulatedPool runs it
  Shape shape;
  std::uint64_t count;
  unsigned maker;
};

struct Load {
  BlockTask::Shape shape;
  std::uint64_t tasks;
  Nanoseconds task_time;
};

/// @tparam Queues  StealingQueues<Meter> or QueueTree<Meter>
template <typename Queues>
class SimulatedPool {
 public:
  SimulatedPool(Machine& machine, Queues& queues)
      : machine_(machine), queues_(queues), meter_(machine), steps_(worker_count()) {}

  /// @return when the last task has ended
  Nanoseconds run(const Load& load) {
    load_ = load;
    machine_.clock.run(worker_count(), [&](unsigned worker) {
      if (worker == 0) create(worker, load.tasks);
      work(worker);
    });
    return last_end_;
  }
  std::uint64_t ended() const { return ended_; }

 private:
  struct Sources {
    SimulatedPool& pool;
    unsigned worker;
    vm::Perturbation random;

    vm::Task* find() { return pool.find(worker, random.next()); }
    bool is_worth_looking() const { return true; }
    void become_hungry() {
      pool.meter_.write(pool.hungry_line_, worker);
      pool.queues_.start_looking(worker);
    }
    void pause() { pool.machine_.clock.wait(1'000); }
    void become_busy() {
      pool.meter_.write(pool.hungry_line_, worker);
      prepare_sleep();
    }
    void prepare_sleep() {
      if (vm::Task* task = pool.queues_.stop_looking(worker)) pool.push(worker, *task);
    }
    bool all_empty() {
      pool.look_at_all();
      return pool.queues_.is_empty();
    }
    void announce() {
      pool.meter_.write(pool.unpromised_line_, worker);
      pool.steps_.announce();
    }
    void cancel() {
      pool.meter_.lock(pool.gate_line_, worker);
      pool.steps_.cancel();
    }
  };

  unsigned worker_count() const { return static_cast<unsigned>(machine_.domain_of_worker.size()); }
  /// A line of each worker which hardly ever changes: their lists of forked calls.
  void look_at_all() { machine_.clock.wait(worker_count() * machine_.costs.load); }

  void work(unsigned worker) {
    using Search = vm::WorkSearch<Sources>;
    Search search(Sources{*this, worker, vm::Perturbation(0, worker)}, worker_count());
    for (;;) {
      vm::Task* task = nullptr;
      switch (search.next(task)) {
        case Search::Next::run: run_task(static_cast<BlockTask*>(task), worker); break;
        case Search::Next::look_again: break;
        case Search::Next::sleep:
          if (!sleep(worker)) return search.stop();
      }
    }
  }

  vm::Task* find(unsigned worker, std::uint64_t random) {
    bool has_moved = false;
    vm::Task* task = queues_.take(worker, has_moved);
    if (!task) {
      task = queues_.take_elsewhere(worker, random, has_moved);
      if (!task) look_at_all();
    }
    if (has_moved) notify(worker);
    return task;
  }
  void push(unsigned worker, vm::Task& task) {
    if (queues_.push(worker, task)) notify(worker);
  }

  void run_task(BlockTask* task, unsigned worker) {
    const std::unique_ptr<BlockTask> owner(task);
    if (task->maker != worker)  // the task and what it works on
      machine_.clock.wait(2 * machine_.transfer(static_cast<int>(task->maker), worker));
    if (task->count == 1) {
      machine_.clock.wait(load_.task_time);
      ++ended_;
      last_end_ = std::max(last_end_, machine_.clock.now());
      return;
    }
    if (task->shape == BlockTask::Shape::flat) {
      for (std::uint64_t i = 0; i < task->count; ++i) create(worker, 1);
    } else {
      create(worker, task->count / 2);
      create(worker, task->count - task->count / 2);
    }
  }
  void create(unsigned worker, std::uint64_t count) {
    machine_.clock.wait(machine_.costs.create);
    push(worker, *new BlockTask(load_.shape, count, worker));
  }

  // ---------------------------------------------------------------- the gate: as IdleGate, but for mutex and condition

  void notify(unsigned worker) {
    meter_.read(unpromised_line_, worker);
    if (!steps_.someone_announced()) return;
    meter_.lock(gate_line_, worker);
    if (!steps_.promise()) return;
    meter_.write(unpromised_line_, worker);
    if (waiting_.empty()) return;
    const unsigned sleeper = waiting_.front();
    waiting_.pop_front();
    machine_.clock.wake(sleeper, machine_.clock.now() + machine_.costs.wake_up);
    machine_.clock.wait(machine_.costs.wake_call);
  }
  bool sleep(unsigned worker) {
    meter_.lock(gate_line_, worker);
    if (!steps_.may_get_up()) {
      steps_.fall_asleep(true);
      while (!steps_.may_get_up()) {
        waiting_.push_back(worker);
        machine_.clock.sleep();
      }
      if (steps_.over)
        for (; !waiting_.empty(); waiting_.pop_front()) machine_.clock.wake(waiting_.front(), machine_.clock.now());
      meter_.lock(gate_line_, worker);
      steps_.get_up();
    }
    return steps_.depart();
  }

  Machine& machine_;
  Queues& queues_;
  Meter meter_;
  vm::IdleSteps<unsigned> steps_;
  std::deque<unsigned> waiting_;
  Meter::Line hungry_line_, unpromised_line_, gate_line_;
  Load load_{};
  std::uint64_t ended_ = 0;
  Nanoseconds last_end_ = 0;
};

enum class Which : std::uint8_t { stealing, tree, tree_fifo };

/// The part of the machine that did work: tasks times their time, over workers times the time of the run. 0 if a task
/// was lost.
double efficiency(Which which, unsigned workers, unsigned domains, const Load& load);

}  // namespace raddle::simulated
