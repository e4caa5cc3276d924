#include "tests/bench/scheduler/simulated_pool.hpp"

#include <doctest/doctest.h>

namespace raddle::simulated {
namespace {

constexpr Nanoseconds task_time = 10'000;
constexpr BlockTask::Shape flat = BlockTask::Shape::flat, halving = BlockTask::Shape::halving;

TEST_CASE("a run on a simulated machine can be repeated exactly") {
  for (const Which which : {Which::stealing, Which::tree, Which::tree_fifo}) {
    const double once = efficiency(which, 16, 2, {halving, 1000, task_time});
    CHECK(once == efficiency(which, 16, 2, {halving, 1000, task_time}));
  }
}

TEST_CASE("on simulated machines every task is run and the end is found") {
  for (const Which which : {Which::stealing, Which::tree, Which::tree_fifo})
    for (const BlockTask::Shape shape : {flat, halving})
      for (const unsigned workers : {1u, 2u, 3u, 8u, 33u})
        for (const std::uint64_t tasks : {1u, 7u, 500u}) {
          const unsigned domains = workers / 8 + 1;
          CHECK(efficiency(which, workers, domains, {shape, tasks, task_time}) > 0);
        }
}

TEST_CASE("one creator feeds 64 workers: at least 90 percent of their time is spent in tasks of 10 us") {
  for (const unsigned domains : {1u, 2u, 8u})
    CHECK(efficiency(Which::stealing, 64, domains, {flat, 64'000, task_time}) >= 0.9);
  for (const unsigned workers : {2u, 8u, 16u})
    for (const Which which : {Which::stealing, Which::tree, Which::tree_fifo})
      CHECK(efficiency(which, workers, 1, {flat, workers * 1000u, task_time}) >= 0.9);
}

TEST_CASE("recursive creators: at least 95 percent of the time is spent in tasks of 10 us") {
  for (const unsigned domains : {1u, 8u}) {
    for (const Which which : {Which::stealing, Which::tree, Which::tree_fifo})
      CHECK(efficiency(which, 64, domains, {halving, 64 * 1000, task_time}) >= 0.95);
    CHECK(efficiency(Which::stealing, 256, domains, {halving, 256 * 300, task_time}) >= 0.95);
  }
}

// Ten seconds each, most of it for workers that look for work.
TEST_CASE("1,024 workers in 4 domains, recursive creators: at least 90 percent of their time is spent in tasks") {
  CHECK(efficiency(Which::stealing, 1024, 4, {halving, 1024 * 100, task_time}) >= 0.9);
}

TEST_CASE("1,024 workers in 4 domains lose no task of the tree's, and find the end") {
  CHECK(efficiency(Which::tree, 1024, 4, {halving, 1024 * 10, task_time}) > 0);
}

}  // namespace
}  // namespace raddle::simulated
