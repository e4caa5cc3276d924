// fib by recursion, every call a function. With -fopenmp calls above the cut-off are tasks. Usage: fib [N]
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

std::int64_t fib(std::int64_t n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

std::int64_t fib_tasks(std::int64_t n) {
  if (n < 20) return fib(n);
  std::int64_t a = 0, b = 0;
#pragma omp task shared(a)
  a = fib_tasks(n - 1);
  b = fib_tasks(n - 2);
#pragma omp taskwait
  return a + b;
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t n = argc > 1 ? std::atoll(argv[1]) : 38;
  std::int64_t result = 0;
#pragma omp parallel
#pragma omp single
  result = fib_tasks(n);
  std::printf("%lld\n", static_cast<long long>(result));
}
