// Along an axis each line gives what it gives by itself, in lines of all lengths around those of vectors and blocks.
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "tests/unit/stdlib/call.hpp"

using namespace raddle::test;
using raddle::vm::Array;
using raddle::vm::Value;
using raddle::vm::ValueKind;

namespace {

template <typename T>
Value packed(std::vector<T> numbers) {
  return Value::of_object(ValueKind::array, Array::packed_of(std::move(numbers)));
}

template <typename T>
std::vector<T> numbers_of(const Value& array) {
  std::vector<T> all;
  array.as_array().for_each_run([&](const void* run, std::size_t count) {
    all.insert(all.end(), static_cast<const T*>(run), static_cast<const T*>(run) + count);
  });
  return all;
}

struct Lines {
  std::size_t outer, length, apart;
  std::size_t count() const { return outer * apart; }
};
constexpr Lines shapes[] = {{1, 1, 1}, {3, 7, 1}, {2, 8, 1},     {5, 300, 1},
                            {1, 1, 9}, {2, 5, 3}, {1, 300, 130}, {2, 513, 11}};

template <typename T>
std::vector<T> line_of(const std::vector<T>& all, const Lines& lines, std::size_t line) {
  std::vector<T> found;
  const std::size_t first = line / lines.apart * lines.apart * lines.length + line % lines.apart;
  for (std::size_t k = 0; k < lines.length; ++k) found.push_back(all[first + k * lines.apart]);
  return found;
}

Value along(const char* function, const char* what, Value array, const Lines& lines, std::size_t overload = 0) {
  const auto number = [](std::size_t n) { return whole(static_cast<std::int64_t>(n)); };
  Outcome outcome = call_overload(
      overload, function,
      {text(what), std::move(array), number(lines.length), number(lines.apart), number(0), number(lines.count())});
  REQUIRE(outcome.error.empty());
  return outcome.results[0];
}

bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) || (std::isnan(a) && std::isnan(b));
}

}  // namespace

TEST_CASE("a line gives the bits that it gives by itself") {
  std::mt19937 chance(5);
  for (const Lines& lines : shapes) {
    std::vector<double> all(lines.count() * lines.length);
    for (double& each : all) each = std::ldexp(static_cast<double>(chance()) - 2e9, static_cast<int>(chance() % 40));
    for (const auto& [what, function] : {std::pair{"sum", "sum"}, {"mean", "avg"}, {"std", "std"}, {"var", "var"}}) {
      const std::vector<double> found = numbers_of<double>(along("lines_", what, packed(all), lines));
      REQUIRE(found.size() == lines.count());
      for (std::size_t i = 0; i < found.size(); ++i) {
        const Outcome alone = call_overload(1, function, {packed(line_of(all, lines, i))});
        CHECK(same_bits(found[i], alone.results[0].as_float()));
      }
    }
  }
}

TEST_CASE("extremes, and where they are, with a NaN in some lines") {
  std::mt19937 chance(7);
  for (const Lines& lines : shapes) {
    std::vector<double> all(lines.count() * lines.length);
    for (double& each : all)
      each = chance() % 97 == 0 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(chance() % 9);
    const std::vector<double> found = numbers_of<double>(along("lines_", "max", packed(all), lines));
    const std::vector<std::int64_t> places = numbers_of<std::int64_t>(along("places_", "max", packed(all), lines));
    for (std::size_t i = 0; i < lines.count(); ++i) {
      const std::vector<double> line = line_of(all, lines, i);
      std::size_t best = 0;
      for (std::size_t k = 0; k < line.size() && !std::isnan(line[best]); ++k)
        if (std::isnan(line[k]) || line[k] > line[best]) best = k;
      CHECK(same_bits(found[i], line[best]));
      CHECK(places[i] == static_cast<std::int64_t>(best));
    }
  }
}

TEST_CASE("ints: sums and products that are too large are an error") {
  const std::int64_t highest = std::numeric_limits<std::int64_t>::max();
  const auto outcome = [&](const char* what, std::vector<std::int64_t> all) {
    return call_overload(1, "lines_", {text(what), packed(std::move(all)), whole(2), whole(1), whole(0), whole(2)});
  };
  CHECK(numbers_of<std::int64_t>(outcome("sum", {highest, -1, 2, 3}).results[0]) ==
        std::vector<std::int64_t>{highest - 1, 5});
  CHECK(outcome("sum", {highest, 1, 2, 3}).error == "integer overflow");
  CHECK(outcome("prod", {1, 2, highest, 2}).error == "integer overflow");
}
