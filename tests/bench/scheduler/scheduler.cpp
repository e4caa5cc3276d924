// Prints the efficiency of both schedulers on simulated machines as CSV: `scheduler [MOST_WORKERS]`.
#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>

#include "tests/bench/scheduler/simulated_pool.hpp"

namespace raddle::simulated {
namespace {

constexpr Nanoseconds task_time = 10'000;
/// One creator needs 100 ns a task: it can not feed more.
constexpr unsigned most_for_one_creator = 128;
/// Enough that starting them all is a small part of the run.
constexpr std::uint64_t tasks_per_worker_flat = 1000, tasks_per_worker_halving = 300;

/// Ends where the scheduler has broken down: to simulate that takes long, and says no more.
constexpr double broken_down = 0.2;

void print_curve(BlockTask::Shape shape, Which which, const char* name, unsigned domains, unsigned most) {
  const bool is_flat = shape == BlockTask::Shape::flat;
  double reached = 1;
  for (unsigned workers = domains; workers <= (is_flat ? std::min(most, most_for_one_creator) : most); workers *= 2) {
    if (reached < broken_down) return;
    const std::uint64_t tasks = workers * (is_flat ? tasks_per_worker_flat : tasks_per_worker_halving);
    reached = efficiency(which, workers, domains, {shape, tasks, task_time});
    fmt::print("{},{},{},{},{:.4f}\n", is_flat ? "one creator" : "recursive", name, domains, workers, reached);
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace raddle::simulated

int main(int argc, char** argv) {
  using namespace raddle::simulated;
  const auto most = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : most_workers;
  if (most < 1 || most > most_workers) {
    fmt::print(stderr, "scheduler: 1 to {} workers, not {}\n", most_workers, argv[1]);
    return 2;
  }
  fmt::print("load,scheduler,domains,workers,efficiency\n");
  for (const BlockTask::Shape shape : {BlockTask::Shape::flat, BlockTask::Shape::halving})
    for (const unsigned domains : {1u, 8u}) {
      print_curve(shape, Which::stealing, "stealing", domains, most);
      print_curve(shape, Which::tree, "tree", domains, most);
      print_curve(shape, Which::tree_fifo, "tree-fifo", domains, most);
    }
}
