#include <cmath>
#include <cstdint>
#include <utility>

#include "stdlib/numbers/random_stream.hpp"
#include "vm/math/random.hpp"
#include "tests/unit/stdlib/call.hpp"

using raddle::stdlib::native::RandomStream;
using raddle::test::call_overload;
using raddle::test::error;
using raddle::test::real;
using raddle::test::whole;

TEST_CASE("Philox gives the answers published with Random123 (kat_vectors, philox4x32 10)") {
  const auto block = [](std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
    const auto [first, second] = raddle::vm::math::philox(seed, stream, index);
    return std::pair(first, second);
  };
  CHECK(block(0, 0, 0) == std::pair(0xe169c58d6627e8d5u, 0x9b00dbd8bc57ac4cu));
  CHECK(block(~std::uint64_t{0}, ~std::uint64_t{0}, ~std::uint64_t{0}) ==
        std::pair(0x41c83b0e408f276du, 0x6d5451fda20bc7c6u));
  CHECK(block(0x299f31d0a4093822, 0x0370734413198a2e, 0x85a308d3243f6a88) ==
        std::pair(0x94fdccebd16cfe09u, 0x24126ea15001e420u));
}

TEST_CASE("a number depends on seed and stream only") {
  raddle::vm::RunSettings settings;
  const auto draw = [&](std::uint64_t stream) {
    return call_overload(0, "random", {}, settings, stream).results[0].as_float();
  };
  const double first = draw(1), second = draw(2);
  CHECK(first != second);
  CHECK(draw(1) == first);
  settings.seed = 1;
  CHECK(draw(1) != first);
}

TEST_CASE("distributions") {
  constexpr int count = 20000;
  double sum = 0, normal_sum = 0, normal_squares = 0, exponential_sum = 0;
  int buckets[3] = {};
  for (int i = 0; i < count; ++i) {
    const double unit = call_overload(0, "random", {}, {}, i).results[0].as_float();
    REQUIRE((unit >= 0 && unit < 1));
    sum += unit;
    ++buckets[call_overload(0, "randint", {whole(-1), whole(2)}, {}, i).results[0].as_int() + 1];
    const double normal = call_overload(0, "random_normal", {real(1), real(2)}, {}, i).results[0].as_float();
    normal_sum += normal;
    normal_squares += (normal - 1) * (normal - 1);
    exponential_sum += call_overload(0, "random_exponential", {real(3)}, {}, i).results[0].as_float();
  }
  CHECK(sum / count == doctest::Approx(0.5).epsilon(0.02));
  for (const int bucket : buckets) CHECK(bucket == doctest::Approx(count / 3.0).epsilon(0.05));
  CHECK(normal_sum / count == doctest::Approx(1).epsilon(0.06));
  CHECK(std::sqrt(normal_squares / count) == doctest::Approx(2).epsilon(0.03));
  CHECK(exponential_sum / count == doctest::Approx(3).epsilon(0.03));
}

TEST_CASE("randint covers the whole range of int and refuses an empty one") {
  constexpr std::int64_t lowest = INT64_MIN, highest = INT64_MAX;
  CHECK(call_overload(0, "randint", {whole(lowest), whole(highest)}).error == "");
  CHECK(error("randint", {whole(3), whole(3)}) == "randint: the start 3 is not below the end 3");
}
