// Blocks come to the same bits whatever a processor can do.
#include "vm/math/block_reductions.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <limits>
#include <random>
#include <span>
#include <vector>

namespace raddle::vm::math {
namespace {

constexpr std::size_t sizes[] = {1, 2, 7, 8, 9, 15, 16, 250, 256};

template <typename T, std::size_t count>
std::vector<std::uint64_t> bits_of(const std::array<T, count>& numbers) {
  std::vector<std::uint64_t> bits;
  for (const T number : numbers) bits.push_back(std::bit_cast<std::uint64_t>(number));
  return bits;
}

template <typename Lanes>
void check_equal(const Lanes& a, const Lanes& b) {
  CHECK(bits_of(a.least) == bits_of(b.least));
  CHECK(bits_of(a.greatest) == bits_of(b.greatest));
}

template <typename T, typename Check>
void check_each_processor(const std::vector<T>& numbers, const Check& check) {
  const BlockReductions& baseline = block_reductions(Processor::baseline);
  for (const Processor processor : processors) {
    if (!can_run(processor)) continue;
    CAPTURE(static_cast<int>(processor));
    for (const std::size_t size : sizes)
      for (std::size_t first = 0; first + size <= numbers.size(); first += size)
        check(baseline, block_reductions(processor), std::span(numbers).subspan(first, size));
  }
}

TEST_CASE("blocks of floats have the same bits on each processor") {
  std::mt19937_64 source(11);
  std::normal_distribution<double> usual(3.0, 1e6);
  std::vector<double> numbers(1024);
  for (double& number : numbers) number = usual(source);
  numbers[100] = -0.0, numbers[101] = 0.0, numbers[300] = std::numeric_limits<double>::quiet_NaN();
  numbers[500] = std::numeric_limits<double>::infinity(), numbers[700] = std::numeric_limits<double>::denorm_min();
  check_each_processor(numbers, [](const BlockReductions& one, const BlockReductions& other, std::span<double> block) {
    const FloatLanes a = one.of_floats(block.data(), block.size()), b = other.of_floats(block.data(), block.size());
    check_equal(a, b);
    CHECK(bits_of(a.sums) == bits_of(b.sums));
    CHECK(bits_of(a.losses) == bits_of(b.losses));
    const auto squares = [&](const BlockReductions& all) {
      return std::bit_cast<std::uint64_t>(all.squares_of_floats(block.data(), block.size(), 2.5, 1e-20));
    };
    CHECK(squares(one) == squares(other));
  });
}

TEST_CASE("blocks of ints have the same bits on each processor") {
  std::mt19937_64 source(12);
  std::vector<std::int64_t> numbers(1024);
  for (std::int64_t& number : numbers) number = static_cast<std::int64_t>(source()) >> (source() % 60);
  numbers[100] = std::numeric_limits<std::int64_t>::min(), numbers[200] = std::numeric_limits<std::int64_t>::max();
  check_each_processor(
      numbers, [](const BlockReductions& one, const BlockReductions& other, std::span<std::int64_t> block) {
        const IntLanes a = one.of_ints(block.data(), block.size()), b = other.of_ints(block.data(), block.size());
        check_equal(a, b);
        CHECK(a.high == b.high);
        CHECK(a.low == b.low);
        const auto squares = [&](const BlockReductions& all) {
          return std::bit_cast<std::uint64_t>(all.squares_of_wide_ints(block.data(), block.size(), 0.25));
        };
        CHECK(squares(one) == squares(other));
        std::vector<std::int64_t> small(block.begin(), block.end());
        for (std::int64_t& number : small) number %= 1'000'000;
        const auto small_squares = [&](const BlockReductions& all) {
          return std::bit_cast<std::uint64_t>(all.squares_of_ints(small.data(), small.size(), 3, 0.5));
        };
        CHECK(small_squares(one) == small_squares(other));
      });
}

}  // namespace
}  // namespace raddle::vm::math
