// Loops that are kept while their iterations end and while all are told to go on: each goes on once.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "tests/stress/schedulers.hpp"
#include "vm/interpret/loop_window.hpp"

namespace raddle::vm {

namespace {

constexpr int rounds = 20'000;

class Loop;

/// Closes its iteration when it runs.
class Iteration final : public Task {
 public:
  explicit Iteration(Loop& loop) : loop_(loop) {}
  void run(Worker& worker) override;

 private:
  Loop& loop_;
};

/// Opens two iterations a turn, until it is kept.
class Loop final : public Task {
 public:
  explicit Loop(LoopWindows& windows) : window(make_ref<LoopWindow>(windows, 0)) {}
  void run(Worker& worker) override {
    REQUIRE_FALSE(is_running.exchange(true));
    ++turns;
    bool is_kept = false;
    while (!is_kept && begun < rounds) {
      for (int i = 0; i < 2; ++i, ++begun) {
        window->open();
        worker.push(*new Iteration(*this));
      }
      if (begun >= rounds || !window->is_full()) continue;
      is_running = false;  // from keep() on somebody else may run it
      is_kept = window->keep(*this);
      if (!is_kept) is_running = true;
    }
    if (!is_kept) is_running = false;
  }

  const Ref<LoopWindow> window;
  int begun = 0;
  std::atomic<int> turns = 0, ended = 0;
  std::atomic<bool> is_running = false;
};

void Iteration::run(Worker& worker) {
  ++loop_.ended;
  if (Task* loop = loop_.window->close()) worker.push(*loop);
  delete this;
}

}  // namespace

static void run_loops(unsigned workers, const PoolOptions& options) {
  WorkerPool pool(workers, options);
  LoopWindows windows(pool, 4);
  std::vector<std::unique_ptr<Loop>> loops;
  for (int i = 0; i < 3; ++i) pool.inject(*loops.emplace_back(std::make_unique<Loop>(windows)));
  pool.hold();
  const auto is_through = [](const auto& loop) { return loop->ended == rounds; };
  std::thread impatient([&] {
    for (int times = 0; times < 8 && !std::ranges::all_of(loops, is_through);) {  // each time with twice the limits
      if (windows.go_on()) ++times;
      std::this_thread::yield();
    }
    pool.release_hold();
  });
  pool.run();
  impatient.join();
  while (windows.go_on()) pool.run();
  for (const auto& loop : loops) {
    CHECK(loop->begun == rounds);
    CHECK(loop->ended == rounds);
    CHECK(loop->turns > 1);
  }
}

TEST_CASE("a kept loop goes on once, whoever takes it") {
  for (const PoolOptions& options : schedulers)
    for (const unsigned workers : {1U, 2U, 8U}) run_loops(workers, options);
}

}  // namespace raddle::vm
