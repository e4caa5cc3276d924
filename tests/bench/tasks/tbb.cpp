// oneTBB: task groups; the chain is a flow graph. BENCH_THREADS: how many threads.
#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_group.h>

#include <deque>
#include <vector>

#include "cases.hpp"

namespace {

namespace tbb = oneapi::tbb;

std::int64_t fib(std::int64_t n) {
  if (n < 2) return n;
  std::int64_t a = 0, b = 0;
  tbb::task_group group;
  group.run([&a, n] { a = fib(n - 1); });
  group.run([&b, n] { b = fib(n - 2); });
  group.wait();
  return a + b;
}

std::int64_t split(std::int64_t blocks) {
  if (blocks == 1) return bench::step(0);
  const std::int64_t half = blocks / 2;
  std::int64_t left = 0, right = 0;
  tbb::task_group group;
  group.run([&left, half] { left = split(half); });
  group.run([&right, blocks, half] { right = split(blocks - half); });
  group.wait();
  return left + right;
}

std::int64_t flat(std::int64_t count) {
  std::vector<std::int64_t> results(static_cast<std::size_t>(count));
  tbb::task_group group;
  for (std::int64_t i = 0; i < count; ++i)
    group.run([&results, i] { results[static_cast<std::size_t>(i)] = bench::step(i); });
  group.wait();
  std::int64_t sum = 0;
  for (const std::int64_t each : results) sum += each;
  return sum;
}

std::int64_t chain(std::int64_t count) {
  using Node = tbb::flow::continue_node<tbb::flow::continue_msg>;
  tbb::flow::graph graph;
  std::int64_t x = 0;
  std::deque<Node> nodes;
  for (std::int64_t i = 0; i < count; ++i) {
    nodes.emplace_back(graph, [&x](const tbb::flow::continue_msg&) { x = bench::step(x); });
    if (i > 0) tbb::flow::make_edge(nodes[static_cast<std::size_t>(i - 1)], nodes.back());
  }
  if (count > 0) nodes.front().try_put(tbb::flow::continue_msg());
  graph.wait_for_all();
  return x;
}

}  // namespace

int main(int argc, char** argv) {
  const char* threads = std::getenv("BENCH_THREADS");
  const tbb::global_control control(tbb::global_control::max_allowed_parallelism,
                                    threads ? std::strtoul(threads, nullptr, 10) : 1);
  return bench::run_case({{"fib", fib}, {"split", bench::ten_times<split>}, {"flat", flat}, {"chain", chain}}, argc,
                         argv);
}
