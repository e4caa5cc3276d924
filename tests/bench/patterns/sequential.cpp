// One thread, no tasks.
#include "patterns.hpp"

namespace {

void run(const bench::Graph& graph, double* rows) {
  for (std::int64_t step = 0; step < graph.steps; ++step) {
    double* const row = rows + step * graph.width;
    for (std::int64_t x = 0; x < graph.width; ++x)
      row[x] = graph.point(step, x, graph.needs(step, x), row - graph.width);
  }
}

}  // namespace

int main(int argc, char** argv) { return bench::run_pattern(run, argc, argv); }
