// A loop writes an array of n elements, their sum is printed. With -fopenmp both loops are shared among the threads.
// Usage: fill_and_sum [N]
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char** argv) {
  const std::int64_t n = argc > 1 ? std::atoll(argv[1]) : 1000000;
  std::vector<std::int64_t> a(n);
#pragma omp parallel for
  for (std::int64_t i = 0; i < n; ++i) a[i] = i * 3 % 1000;
  std::int64_t sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (std::int64_t i = 0; i < n; ++i) sum += a[i];
  std::printf("%lld\n", static_cast<long long>(sum));
}
