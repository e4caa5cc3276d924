// The pool under load: each task runs exactly once, run() returns only when all have, holds keep it from ending.
#include "vm/schedule/worker_pool.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <new>
#include <thread>

namespace raddle::vm {
namespace {

std::atomic<std::int64_t> leaves{0};

/// Splits in two down to depth 0; lives in the workers' slabs.
struct Split final : Task {
  int depth = 0;
  static void start(Worker& worker, int depth) {
    auto* task = new (worker.allocate(sizeof(Split))) Split;
    task->depth = depth;
    worker.push(*task);
  }
  void run(Worker& worker) override {
    const int rest = depth - 1;
    this->~Split();
    worker.deallocate(this, sizeof(Split));
    if (rest < 0) {
      leaves.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    start(worker, rest);
    start(worker, rest);
  }
};
struct Root final : Task {
  int depth = 0;
  void run(Worker& worker) override { Split::start(worker, depth); }
};

TEST_CASE("a tree of tasks is run completely, with 1, 2 and 8 workers, in any order") {
  for (const unsigned workers : {1u, 2u, 8u}) {
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
      leaves = 0;
      WorkerPool pool(workers, seed);
      Root root;
      root.depth = static_cast<int>(seed % 10);
      pool.inject(root);
      pool.run();
      CHECK(leaves.load() == std::int64_t{1} << root.depth);
    }
  }
}

TEST_CASE("a pool can be run again, and an empty one ends at once") {
  WorkerPool pool(4);
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

TEST_CASE("a hold keeps the pool alive until the injected task has run") {
  for (int round = 0; round < 50; ++round) {
    leaves = 0;
    WorkerPool pool(2);
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

TEST_CASE("stop() ends a run that would go on for ever") {
  struct Endless final : Task {
    std::atomic<int> rounds{0};
    void run(Worker& worker) override {
      if (rounds.fetch_add(1) == 1000) worker.pool().stop();
      worker.push(*this);
    }
  };
  for (const unsigned workers : {1u, 2u, 8u}) {
    WorkerPool pool(workers);
    Endless task;
    pool.inject(task);
    pool.run();
    CHECK(pool.stopped());
    CHECK(task.rounds.load() > 1000);
  }
}

}  // namespace
}  // namespace raddle::vm
