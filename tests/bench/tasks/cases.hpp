#pragma once
// The cases, for each library of tasks: `PROGRAM CASE SIZE` prints what the Raddle script of that name prints. All
// calls that a script makes are tasks of the library; there are no cut-offs.
//
//   fib    fib(SIZE), the calls in pairs
//   split  a range of SIZE blocks halved down to single blocks, each a call that does nothing worth mentioning
//   flat   SIZE independent calls from one loop
//   chain  SIZE calls, each of which needs the one before
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace bench {

/// What a call does: nothing that the optimiser may remove.
inline std::int64_t step(std::int64_t x) {
  asm volatile("" : "+r"(x));
  return x + 1;
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
