#include "vm/interpret/loop_window.hpp"

#include <doctest/doctest.h>

#include <chrono>

#include "vm/schedule/worker_pool.hpp"

namespace raddle::vm {

namespace {

/// More than a few iterations may take that are not long.
void pass_time() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
  while (std::chrono::steady_clock::now() < end) {
  }
}

class NotedTask final : public Task {
 public:
  void run(Worker&) override { ++runs; }
  int runs = 0;
};

/// A loop that is kept as its window is full.
struct KeptLoop {
  explicit KeptLoop(std::int64_t limit) : windows(pool, limit) {
    for (std::int64_t i = 0; i < limit; ++i) window->open();
    REQUIRE(window->keep(loop));
  }
  WorkerPool pool{1};
  LoopWindows windows;
  const Ref<LoopWindow> window = make_ref<LoopWindow>(windows, 0);
  NotedTask loop;
};

}  // namespace

TEST_CASE("a loop is kept until its open iterations have ended") {
  WorkerPool pool(1);
  LoopWindows windows(pool, 3);
  const Ref<LoopWindow> window = make_ref<LoopWindow>(windows, 0);
  NotedTask loop;
  window->open();
  CHECK_FALSE(window->is_full());
  window->open();
  window->open();
  CHECK(window->is_full());
  REQUIRE(window->keep(loop));
  CHECK(window->close() == nullptr);
  Task* const after_half = window->close();  // if the iterations have taken long: once
  Task* const after_all = window->close();
  CHECK((after_half == &loop) != (after_all == &loop));
  CHECK_FALSE(windows.go_on());
}

TEST_CASE("many points that were begun together are not long: the loop is kept until all have ended") {
  KeptLoop kept(2);
  constexpr std::int64_t points = 1'000'000'000;  // it would take hours before they are long
  pass_time();
  CHECK(kept.window->close(points) == nullptr);
  CHECK(kept.window->close(points) == &kept.loop);
}

TEST_CASE("a loop whose iterations are long goes on when half of them have ended") {
  KeptLoop kept(4);
  pass_time();
  CHECK(kept.window->close() == nullptr);
  CHECK(kept.window->close() == &kept.loop);
  CHECK(kept.window->close() == nullptr);
}

TEST_CASE("a loop whose iterations have ended is not kept") {
  WorkerPool pool(1);
  LoopWindows windows(pool, 1);
  const Ref<LoopWindow> window = make_ref<LoopWindow>(windows, 1);
  NotedTask loop;
  window->open();  // the iteration that is yet to come
  CHECK_FALSE(window->keep(loop));
  CHECK(window->close() == nullptr);
  CHECK_FALSE(windows.go_on());
}

TEST_CASE("when nothing else is left to do, kept loops go on with twice the limit") {
  WorkerPool pool(1);
  LoopWindows windows(pool, 1);
  const Ref<LoopWindow> window = make_ref<LoopWindow>(windows, 0);
  const Ref<LoopWindow> other = make_ref<LoopWindow>(windows, 0);
  NotedTask loop, other_loop;
  for (const Ref<LoopWindow>& each : {window, other}) each->open();
  REQUIRE(window->keep(loop));
  REQUIRE(other->keep(other_loop));
  CHECK(windows.go_on());
  pool.run();
  CHECK(loop.runs == 1);
  CHECK(other_loop.runs == 1);
  CHECK(window->left() == 1);
  CHECK(window->close() == nullptr);
}

}  // namespace raddle::vm
