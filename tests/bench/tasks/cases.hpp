#pragma once
// The cases, for each library of tasks: `PROGRAM CASE SIZE` prints what the Raddle script of that name prints. All
// calls that a script makes are tasks of the library; there are no cut-offs.
//
//   fib      fib(SIZE), the calls in pairs
//   split    a range of SIZE blocks halved down to single blocks, each a call that does little; ten times
//   flat     SIZE independent calls from one loop
//   chain    SIZE calls, each of which needs the one before
//   stencil  SIZE rows of 16 elements, each a call that needs three elements of the row before
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>

namespace bench {

/// What a call does: nothing that the optimiser may remove.
inline std::int64_t step(std::int64_t x) {
  asm volatile("" : "+r"(x));
  return x + 1;
}

/// The sum of the results of ten runs, one after the other.
template <std::int64_t (*run)(std::int64_t)>
std::int64_t ten_times(std::int64_t size) {
  std::int64_t sum = 0;
  for (int i = 0; i < 10; ++i) sum += run(size);
  return sum;
}

constexpr std::int64_t stencil_width = 16;

/// The rows of `stencil`, one after the other; the first one is set.
inline std::vector<std::int64_t> stencil_rows(std::int64_t steps) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>((steps + 1) * stencil_width));
  for (std::int64_t x = 0; x < stencil_width; ++x) rows[static_cast<std::size_t>(x)] = x;
  return rows;
}

/// The element at `x` of a row, from the row before.
inline std::int64_t stencil_point(const std::int64_t* before, std::int64_t x) {
  const std::int64_t sum =
      before[std::max<std::int64_t>(x - 1, 0)] + before[x] + before[std::min<std::int64_t>(x + 1, stencil_width - 1)];
  return step(sum) % 1000003;
}

inline std::int64_t sum_of_last(const std::vector<std::int64_t>& rows) {
  return std::accumulate(rows.end() - stencil_width, rows.end(), std::int64_t{0});
}

struct Case {
  const char* name;
  std::int64_t (*run)(std::int64_t size);
};

template <std::size_t count>
int run_case(const Case (&cases)[count], int argc, char** argv) {
  if (argc == 3) {
    for (const Case& each : cases) {
      if (std::strcmp(each.name, argv[1]) != 0) continue;
      std::printf("%lld\n", static_cast<long long>(each.run(std::atoll(argv[2]))));
      return 0;
    }
  }
  std::fprintf(stderr, "usage: %s CASE SIZE\n", argv[0]);
  return 2;
}

}  // namespace bench
