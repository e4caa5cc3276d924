// The floor: plain calls.
#include "cases.hpp"

namespace {

__attribute__((noinline)) std::int64_t fib(std::int64_t n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

__attribute__((noinline)) std::int64_t split(std::int64_t blocks) {
  if (blocks == 1) return bench::step(0);
  const std::int64_t left = blocks / 2;
  return split(left) + split(blocks - left);
}

std::int64_t flat(std::int64_t count) {
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += bench::step(i);
  return sum;
}

std::int64_t chain(std::int64_t count) {
  std::int64_t x = 0;
  for (std::int64_t i = 0; i < count; ++i) x = bench::step(x);
  return x;
}

std::int64_t stencil(std::int64_t steps) {
  std::vector<std::int64_t> rows = bench::stencil_rows(steps);
  for (std::int64_t* row = rows.data() + bench::stencil_width; row < rows.data() + rows.size();
       row += bench::stencil_width) {
    for (std::int64_t x = 0; x < bench::stencil_width; ++x)
      row[x] = bench::stencil_point(row - bench::stencil_width, x);
  }
  return bench::sum_of_last(rows);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_case(
      {{"fib", fib}, {"split", bench::ten_times<split>}, {"flat", flat}, {"chain", chain}, {"stencil", stencil}}, argc,
      argv);
}
