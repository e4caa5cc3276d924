// oneTBB: a flow graph, built before it runs. BENCH_THREADS: how many threads.
#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>

#include <deque>

#include "patterns.hpp"

namespace {

namespace tbb = oneapi::tbb;

void run(const bench::Graph& graph, double* rows) {
  using Node = tbb::flow::continue_node<tbb::flow::continue_msg>;
  tbb::flow::graph flow;
  std::deque<Node> nodes;
  for (std::int64_t step = 0; step < graph.steps; ++step) {
    double* const row = rows + step * graph.width;
    for (std::int64_t x = 0; x < graph.width; ++x) {
      const bench::Needs needs = graph.needs(step, x);
      nodes.emplace_back(flow, [&graph, step, x, needs, row](const tbb::flow::continue_msg&) {
        row[x] = graph.point(step, x, needs, row - graph.width);
      });
      for (int i = 0; i < needs.count; ++i)
        tbb::flow::make_edge(nodes[static_cast<std::size_t>((step - 1) * graph.width + needs.elements[i])],
                             nodes.back());
    }
  }
  for (std::int64_t i = 0; i < graph.size(); ++i) {
    if (graph.needs(i / graph.width, i % graph.width).count == 0)
      nodes[static_cast<std::size_t>(i)].try_put(tbb::flow::continue_msg());
  }
  flow.wait_for_all();
}

}  // namespace

int main(int argc, char** argv) {
  const char* threads = std::getenv("BENCH_THREADS");
  const tbb::global_control control(tbb::global_control::max_allowed_parallelism,
                                    threads ? std::strtoul(threads, nullptr, 10) : 1);
  return bench::run_pattern(run, argc, argv);
}
