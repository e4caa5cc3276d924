// The pool under load: each task runs exactly once, run() returns only when all have, holds keep it from ending.
#include "vm/schedule/worker_pool.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <new>
#include <thread>
#include <vector>

#include "tests/stress/schedulers.hpp"

namespace raddle::vm {
namespace {

std::atomic<std::int64_t> leaves{0};

/// Splits in two down to depth 0.
struct Split final : Task {
  int depth = 0;
  std::int32_t priority = 0, step = 0;
  static void start(Worker& worker, int depth, std::int32_t priority, std::int32_t step) {
    auto* task = new Split;
    task->depth = depth;
    task->priority = priority;
    task->step = step;
    worker.push(*task, priority);
  }
  void run(Worker& worker) override {
    const Split own = *this;
    delete this;
    if (own.depth == 0) {
      leaves.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    start(worker, own.depth - 1, own.priority + own.step, own.step);
    start(worker, own.depth - 1, own.priority - own.step, own.step);
  }
};
struct Root final : Task {
  int depth = 0;
  std::int32_t step = 0;  ///< from a task's priority up to that of one it makes, and down to that of the other
  void run(Worker& worker) override { Split::start(worker, depth, 0, step); }
};

TEST_CASE("a tree of tasks is run completely, with 1, 2 and 8 workers, in any order, with priorities and without") {
  for (PoolOptions options : schedulers) {
    for (const unsigned workers : {1u, 2u, 8u}) {
      for (std::uint64_t seed = 0; seed < 60; ++seed) {
        leaves = 0;
        options.scheduler_seed = seed;
        options.domain_of_worker.clear();  // those of this machine, or two or four
        for (unsigned i = 0; i < workers && seed % 3 != 0; ++i) options.domain_of_worker.push_back(i % (seed % 3 * 2));
        std::ranges::sort(options.domain_of_worker);
        WorkerPool pool(workers, options);
        Root root;
        root.depth = static_cast<int>(seed % 10);
        root.step = seed < 30 ? 0 : 1;
        pool.inject(root);
        pool.run();
        CHECK(leaves.load() == std::int64_t{1} << root.depth);
      }
    }
  }
}

/// Tasks that lie in one block; whoever runs one goes on with those that come next in its own queue.
struct Block {
  struct Part final : Task {
    Block* block = nullptr;
    std::atomic<int> runs{0};
    void run(Worker& worker) override { block->run_from(*this, worker); }
  };
  void run_from(Part& first, Worker& worker) {
    int ended = 0;
    for (Task* next = &first; next; next = worker.take_next_within(parts.data(), parts.data() + parts.size())) {
      static_cast<Part*>(next)->runs.fetch_add(1, std::memory_order_relaxed);
      ++ended;
    }
    longest = std::max(longest.load(std::memory_order_relaxed), ended);
    left.fetch_sub(ended, std::memory_order_relaxed);
  }
  std::array<Part, 64> parts;
  std::atomic<int> left{64}, longest{0};
};

TEST_CASE("tasks that follow each other in a worker's queue are run once, in one go or not") {
  struct Maker final : Task {
    std::vector<Block> blocks = std::vector<Block>(50);
    void run(Worker& worker) override {
      for (Block& block : blocks) {
        TaskBatch batch;
        for (Block::Part& part : block.parts) {
          part.block = &block;
          batch.add(part);
        }
        worker.push(batch);
      }
    }
  };
  for (PoolOptions options : schedulers) {
    for (const unsigned workers : {1u, 2u, 8u}) {
      for (std::uint64_t seed = 0; seed < 20; ++seed) {
        options.scheduler_seed = seed < 10 ? 0 : seed;
        WorkerPool pool(workers, options);
        Maker maker;
        pool.inject(maker);
        pool.run();
        int in_one_go = 0;
        for (const Block& block : maker.blocks) {
          CHECK(block.left == 0);
          for (const Block::Part& part : block.parts) CHECK(part.runs == 1);
          in_one_go = std::max(in_one_go, block.longest.load());
        }
        // with a seed each task is looked for anew, so that all orders are seen
        if (options.scheduler_seed != 0) CHECK(in_one_go == 1);
        if (workers == 1 && options.scheduler == Scheduler::stealing && seed < 10) CHECK(in_one_go == 64);
      }
    }
  }
}

TEST_CASE("what is urgent goes before the next task of the own queue") {
  struct Urgent final : Task {
    int before = 0;
    const Block* block = nullptr;
    void run(Worker&) override { before = 64 - block->left; }
  };
  struct Pusher final : Task {
    Block block;
    Urgent urgent;
    void run(Worker& worker) override {
      for (Block::Part& part : block.parts) {
        part.block = &block;
        worker.push(part);
      }
      urgent.block = &block;
      CHECK(worker.take_next_within(&block.parts[0], &block.parts[63]) == nullptr);  // the youngest is not wanted
      worker.push(urgent, 1);
      CHECK(worker.take_next_within(block.parts.data(), block.parts.data() + 64) == nullptr);
    }
  };
  WorkerPool pool(1);
  Pusher pusher;
  pool.inject(pusher);
  pool.run();
  CHECK(pusher.urgent.before == 0);
  CHECK(pusher.block.left == 0);
}

TEST_CASE("a pool can be run again, and an empty one ends at once") {
  for (const PoolOptions& options : schedulers) {
    WorkerPool pool(4, options);
    pool.run();
    for (int i = 0; i < 100; ++i) {
      leaves = 0;
      Root root;
      root.depth = 3;
      pool.inject(root);
      pool.run();
      CHECK(leaves.load() == 8);
    }
  }
}

TEST_CASE("a hold keeps the pool alive until the injected task has run") {
  for (const PoolOptions& options : schedulers) {
    for (int round = 0; round < 50; ++round) {
      leaves = 0;
      WorkerPool pool(2, options);
      Root late;
      late.depth = 2;
      pool.hold();
      std::thread outside([&] {
        pool.inject(late);
        pool.release_hold();
      });
      pool.run();
      outside.join();
      CHECK(leaves.load() == 4);
    }
  }
}

TEST_CASE("workers come and go while the pool runs: each task is still run once") {
  for (PoolOptions options : schedulers) {
    options.capacity = 8;
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      leaves = 0;
      options.scheduler_seed = seed;
      WorkerPool pool(2, options);
      Root root;
      root.depth = 13;
      pool.inject(root);
      pool.hold();
      std::thread outside([&] {
        for (unsigned i = 0; i < 40; ++i) {
          pool.resize(1 + (i * 5 + static_cast<unsigned>(seed)) % 8);
          std::this_thread::yield();
        }
        pool.release_hold();
      });
      pool.run();
      outside.join();
      CHECK(leaves.load() == std::int64_t{1} << root.depth);
      pool.resize(3);  // and between runs
      leaves = 0;
      pool.inject(root);
      pool.run();
      CHECK(leaves.load() == std::int64_t{1} << root.depth);
    }
  }
}

TEST_CASE("a worker that is added takes part, one that is removed does not") {
  struct Census final : Task {
    std::atomic<unsigned>* seen = nullptr;
    std::atomic<unsigned>* arrived = nullptr;
    unsigned expected = 0;
    void run(Worker& worker) override {
      seen->fetch_or(1u << worker.index());
      arrived->fetch_add(1);
      while (arrived->load() < expected) std::this_thread::yield();  // each worker has one
    }
  };
  for (PoolOptions options : schedulers) {
    options.capacity = 4;
    WorkerPool pool(1, options);
    for (const unsigned count : {4u, 2u, 3u, 1u}) {
      std::atomic<unsigned> seen{0}, arrived{0};
      Census tasks[4];
      pool.hold();
      std::thread outside([&] {
        pool.resize(count);
        for (unsigned i = 0; i < count; ++i) {
          tasks[i].seen = &seen;
          tasks[i].arrived = &arrived;
          tasks[i].expected = count;
          pool.inject(tasks[i]);
        }
        pool.release_hold();
      });
      pool.run();
      outside.join();
      CHECK(seen.load() == (1u << count) - 1);
    }
  }
}

/// Each waits for all others: one that sleeps on would hold them up for ever.
TEST_CASE("tasks that are injected together wake one worker, and that one the next") {
  struct Meeting final : Task {
    std::atomic<unsigned>* arrived = nullptr;
    void run(Worker&) override {
      arrived->fetch_add(1);
      while (arrived->load() % 4 != 0) std::this_thread::yield();
    }
  };
  for (const PoolOptions& options : schedulers) {
    WorkerPool pool(4, options);
    for (int round = 0; round < 30; ++round) {
      std::atomic<unsigned> arrived{0};
      Meeting tasks[4];
      pool.hold();
      pool.hold();
      std::thread outside([&] {
        if (round % 2 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));  // they sleep
        TaskBatch batch;
        for (Meeting& task : tasks) {
          task.arrived = &arrived;
          batch.add(task);
        }
        pool.inject(batch);
        pool.inject(TaskBatch());
        pool.release_holds(2);
      });
      pool.run();
      outside.join();
      CHECK(arrived.load() == 4);
    }
  }
}

TEST_CASE("stop() ends a run that would go on for ever; what is made ready after it does not run") {
  struct Endless final : Task {
    std::atomic<int> rounds{0};
    void run(Worker& worker) override {
      if (rounds.fetch_add(1) == 999) worker.pool().stop();
      worker.push(*this);
    }
  };
  for (const PoolOptions& options : schedulers) {
    for (const unsigned workers : {1u, 2u, 8u}) {
      for (int round = 0; round < 100; ++round) {
        WorkerPool pool(workers, options);
        Endless task;
        pool.inject(task);
        pool.run();
        CHECK(pool.stopped());
        CHECK(task.rounds.load() == 1000);
      }
    }
  }
}

}  // namespace
}  // namespace raddle::vm
