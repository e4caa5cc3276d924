#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

#include "tests/unit/gpu/kernel_forms.hpp"

namespace raddle::gpu {
namespace {

TEST_CASE("32 lanes have the bits of one that does what they do") {
  for (const unsigned size : {1u, 7u, 33u})
    for (const bool backwards : {false, true}) {
      CAPTURE(size);
      CAPTURE(backwards);
      CHECK(results_of_lanes(size, size, backwards) == results_of_one_lane(size, size));
    }
}

TEST_CASE("a call fails in whichever lane it fails") {
  for (const std::size_t bad : {0u, 1u, 16u, 31u, 45u}) {
    std::vector<double> numbers(50, 1.0);
    CHECK(status_of_lanes(numbers, false) == 0);
    numbers[bad] = -1;
    CHECK(status_of_one_lane(numbers) == 7);
    for (const bool backwards : {false, true}) CHECK(status_of_lanes(numbers, backwards) == 7);
  }
}

}  // namespace
}  // namespace raddle::gpu
