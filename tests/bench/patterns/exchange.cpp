// What the machine takes for a row of two elements of which each needs the other one of the row before: two threads
// that compute nothing, write a number each and wait for the other's. Prints ns a row.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

struct alignas(128) Number {
  std::atomic<long> value{0};
};

int main() {
  constexpr long rows = 2'000'000;
  Number numbers[2];
  const auto exchange = [&](Number& own, const Number& other) {
    for (long row = 1; row <= rows; ++row) {
      own.value.store(row, std::memory_order_release);
      while (other.value.load(std::memory_order_acquire) < row) {
      }
    }
  };
  const auto begin = std::chrono::steady_clock::now();
  std::jthread second(exchange, std::ref(numbers[1]), std::cref(numbers[0]));
  exchange(numbers[0], numbers[1]);
  second.join();
  const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - begin;
  std::printf("%.1f\n", taken.count() / rows);
}
