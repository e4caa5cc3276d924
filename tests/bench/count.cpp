// A trivial function at N points, their sum is printed. With -fopenmp the loop is shared among the threads.
// Usage: count [N]
#include <cstdint>
#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  const std::int64_t n = argc > 1 ? std::atoll(argv[1]) : 1000000000;
  std::int64_t sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (std::int64_t i = 0; i < n; ++i) sum += 2 * i + 1;
  std::printf("%lld\n", static_cast<long long>(sum));
}
