// OpenMP tasks with `depend`: libgomp with g++, LLVM's libomp with clang++.
#include "patterns.hpp"

namespace {

void run(const bench::Graph& graph, double* rows) {
#pragma omp parallel
#pragma omp single
  for (std::int64_t step = 0; step < graph.steps; ++step) {
    double* const row = rows + step * graph.width;
    double* const before = row - graph.width;
    for (std::int64_t x = 0; x < graph.width; ++x) {
      const bench::Needs needs = graph.needs(step, x);
#pragma omp task firstprivate(step, x, needs, row, before) depend(out                                       \
                                                                  : row[x]) depend(iterator(i = 0           \
                                                                                            : needs.count), \
                                                                                   in                       \
                                                                                   : before[needs.elements[i]])
      row[x] = graph.point(step, x, needs, before);
    }
  }
}

}  // namespace

int main(int argc, char** argv) { return bench::run_pattern(run, argc, argv); }
