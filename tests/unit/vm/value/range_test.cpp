#include "vm/value/range.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace raddle::vm {
namespace {

constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();
constexpr double infinity = std::numeric_limits<double>::infinity();

std::int64_t count(std::int64_t low, std::int64_t high, std::int64_t step) { return range_count(low, high, step); }

TEST_CASE("ranges of ints include their upper end, also where the ints end") {
  CHECK(count(3, 10, 3) == 3);
  CHECK(count(5, 4, 1) == 0);
  CHECK(count(5, 1, -1) == 5);
  CHECK(count(1, 5, -1) == 0);
  CHECK(count(highest, lowest, lowest) == 2);
  CHECK(count(highest, lowest, -1) == highest - 1);
  CHECK(count(highest - 2, highest, 2) == 2);
  CHECK(count(lowest, highest, highest) == 3);
  CHECK(range_value(lowest, highest, 2) == highest - 1);
  CHECK(count(lowest, highest, 1) == highest - 1);
}

TEST_CASE("ranges of floats end with the last low + k*step that is not above the end") {
  CHECK(range_count(0.0, 1.0, 0.1) == 11);
  CHECK(range_count(0.0, 0.3, 0.1) == 3);  // 3 * 0.1 > 0.3
  CHECK(range_count(0.0, 0.7, 0.1) == 7);  // 7 * 0.1 > 0.7
  CHECK(range_count(1.0, 0.0, -0.5) == 3);
  CHECK(range_count(0.0, 1.0, -0.5) == 0);
  CHECK(range_count(0.3, 0.0, -0.1) == 3);  // 0.3 - 3 * 0.1 < 0
  CHECK(range_count(2.5, 2.5, 1.0) == 1);
  CHECK(range_count(1.0, 5.0, infinity) == 1);
  CHECK(range_value(1.0, infinity, 0) == 1.0);
  CHECK(range_count(std::nan(""), 1.0, 1.0) == 0);
  CHECK(range_count(0.0, 1.0, std::nan("")) == 0);
  CHECK(range_count(0.0, infinity, 1.0) == highest - 1);
  CHECK(range_count(0.0, 1e16, 1e-300) == highest - 1);
}

TEST_CASE("the count of a range of floats is exact where steps are near the precision of the values") {
  // 1e16 and 1e16 + 2 are neighbours: to 1e16 + 2 round 1e16 + k*0.1 for k = 11 to 29
  CHECK(range_value(1e16, 0.1, 29) == 1e16 + 2);
  CHECK(range_value(1e16, 0.1, 30) > 1e16 + 2);
  CHECK(range_count(1e16, 1e16 + 2, 0.1) == 30);
  for (const double step : {1.5, 3.0, 0.7, 1e-3}) {
    for (const double high : {1e16, 1e16 + 6, 1e16 + 1000}) {
      const std::int64_t values = range_count(1e16, high, step);
      CHECK(range_value(1e16, step, values - 1) <= high);
      CHECK(range_value(1e16, step, values) > high);
    }
  }
}

TEST_CASE("a step that changes nothing is a fault") {
  CHECK(step_fault(std::int64_t{1}, std::int64_t{0}) != nullptr);
  CHECK(step_fault(std::int64_t{1}, std::int64_t{-1}) == nullptr);
  CHECK(step_fault(1.0, 0.0) != nullptr);
  CHECK(step_fault(1.0, 1e-30) != nullptr);
  CHECK(step_fault(0.0, 1e-30) == nullptr);
  CHECK(step_fault(1.0, -1e-30) != nullptr);
}

TEST_CASE("ranges as arrays") {
  const auto array = make_range(0.0, 1.0, 0.25);
  REQUIRE(array.has_value());
  CHECK((*array)->size() == 5);
  CHECK((*array)->get(Value::of(std::int64_t{3})).as_float() == 0.75);
  CHECK(make_range(std::int64_t{2}, std::int64_t{1}, std::int64_t{1}).value()->is_closed());
  CHECK(make_range(1.0, 2.0, 0.0).error() == "the step of a range is 0");
  CHECK_FALSE(make_range(std::int64_t{0}, highest, std::int64_t{1}).has_value());
}

}  // namespace
}  // namespace raddle::vm
