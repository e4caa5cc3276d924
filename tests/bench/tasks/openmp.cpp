// OpenMP tasks: libgomp with g++, LLVM's libomp with clang++.
#include <vector>

#include "cases.hpp"

namespace {

std::int64_t fib(std::int64_t n) {
  if (n < 2) return n;
  std::int64_t a, b;
#pragma omp task shared(a) firstprivate(n)
  a = fib(n - 1);
#pragma omp task shared(b) firstprivate(n)
  b = fib(n - 2);
#pragma omp taskwait
  return a + b;
}

std::int64_t split(std::int64_t blocks) {
  if (blocks == 1) return bench::step(0);
  const std::int64_t half = blocks / 2;
  std::int64_t left, right;
#pragma omp task shared(left) firstprivate(half)
  left = split(half);
#pragma omp task shared(right) firstprivate(blocks, half)
  right = split(blocks - half);
#pragma omp taskwait
  return left + right;
}

std::int64_t flat(std::int64_t count) {
  std::vector<std::int64_t> results(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
#pragma omp task shared(results) firstprivate(i)
    results[static_cast<std::size_t>(i)] = bench::step(i);
  }
#pragma omp taskwait
  std::int64_t sum = 0;
  for (const std::int64_t each : results) sum += each;
  return sum;
}

std::int64_t chain(std::int64_t count) {
  std::int64_t x = 0;
  for (std::int64_t i = 0; i < count; ++i) {
#pragma omp task shared(x) depend(inout : x)
    x = bench::step(x);
  }
#pragma omp taskwait
  return x;
}

std::int64_t stencil(std::int64_t steps) {
  std::vector<std::int64_t> rows = bench::stencil_rows(steps);
  for (std::int64_t* row = rows.data() + bench::stencil_width; row < rows.data() + rows.size();
       row += bench::stencil_width) {
    const std::int64_t* const before = row - bench::stencil_width;
    for (std::int64_t x = 0; x < bench::stencil_width; ++x) {
      const std::int64_t left = std::max<std::int64_t>(x - 1, 0);
      const std::int64_t right = std::min<std::int64_t>(x + 1, bench::stencil_width - 1);
#pragma omp task firstprivate(row, before, x) depend(in : before[left], before[x], before[right]) depend(out : row[x])
      row[x] = bench::stencil_point(before, x);
    }
  }
#pragma omp taskwait
  return bench::sum_of_last(rows);
}

template <std::int64_t (*run)(std::int64_t)>
std::int64_t in_team(std::int64_t size) {
  std::int64_t result = 0;
#pragma omp parallel
#pragma omp single
  result = run(size);
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_case({{"fib", in_team<fib>},
                          {"split", in_team<bench::ten_times<split>>},
                          {"flat", in_team<flat>},
                          {"chain", in_team<chain>},
                          {"stencil", in_team<stencil>}},
                         argc, argv);
}
