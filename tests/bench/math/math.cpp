// What a call of each function of vm/math costs: of one number, of eight at once, of the C library. Arguments of the
// range in which it does not overflow; the least of 20 rounds. `build/tests/raddle_bench_math`
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "tests/unit/vm/math/functions.hpp"
#include "vm/math/lane_functions.hpp"

namespace raddle::vm::math::test {
namespace {

constexpr std::size_t count = 4096;
struct alignas(64) Numbers {
  double x[count], y[count], result[count];
};

#define RADDLE_MATH_FUNCTION(name, arguments) \
  [](double x, [[maybe_unused]] double y) { return std::name(RADDLE_MATH_ARGUMENTS_##arguments); },
constexpr double (*library[])(double, double) = {
#include "vm/math/functions.def"
#undef RADDLE_MATH_FUNCTION
#define RADDLE_MATH_FUNCTION(name, arguments) \
  [](double x, [[maybe_unused]] double y) -> double { return std::name(RADDLE_MATH_FLOATS_##arguments); },
#include "vm/math/functions32.def"
#undef RADDLE_MATH_FUNCTION
};

template <typename Run>
double nanoseconds(const Run& run) {
  double least = infinity;
  for (int round = 0; round < 20; ++round) {
    const auto start = std::chrono::steady_clock::now();
    run();
    const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
    least = std::min(least, taken.count() / static_cast<double>(count));
  }
  return least;
}

void measure() {
  static Numbers all;
  std::mt19937_64 source(7);
  std::printf("function  one number  eight at once  C library   ns\n");
  for (std::size_t i = 0; i < std::size(functions); ++i) {
    const Function& function = functions[i];
    const LaneFunction* lanes = lane_function(function.name, function.count);
    const Range range = range_of(function.name);
    std::uniform_real_distribution<double> draw(range.low, range.high);
    std::generate_n(all.x, count, [&] { return draw(source); });
    std::generate_n(all.y, count, [&] { return draw(source); });
    const auto one_by_one = [&](double (*call)(double, double)) {
      return nanoseconds([&] {
        for (std::size_t k = 0; k < count; ++k) all.result[k] = call(all.x[k], all.y[k]);
      });
    };
    std::printf("%-9s %10.1f %14.1f %10.1f\n", function.name.data(), one_by_one(function.scalar),
                nanoseconds([&] { lanes->compute(all.x, all.y, all.result, count); }), one_by_one(library[i]));
  }
}

}  // namespace
}  // namespace raddle::vm::math::test

int main() { raddle::vm::math::test::measure(); }
