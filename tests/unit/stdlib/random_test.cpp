#include <cmath>

#include "stdlib/numbers/philox.hpp"
#include "tests/unit/stdlib/call.hpp"

using raddle::stdlib::native::philox;
using raddle::stdlib::native::PhiloxBlock;
using raddle::stdlib::native::RandomStream;
using raddle::test::call_overload;
using raddle::test::error;
using raddle::test::real;
using raddle::test::whole;

// Known answers published with Random123 (kat_vectors, philox4x32 10).
static_assert(philox({0, 0, 0, 0}, {0, 0}) == PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
static_assert(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
              PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
static_assert(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
              PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});

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
