// Start and end of a process that prints one line, with a number from a function with a loop.
#include <cstdint>
#include <cstdio>

namespace {

int steps(std::int64_t x) {
  int n = 0;
  for (; x != 1; ++n) x = x % 2 == 0 ? x / 2 : 3 * x + 1;
  return n;
}

}  // namespace

int main() { std::printf("hello, %d steps\n", steps(27)); }
