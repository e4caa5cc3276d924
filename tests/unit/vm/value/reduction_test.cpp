#include "vm/value/reduction.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "vm/value/array.hpp"

namespace raddle::vm {
namespace {

constexpr std::size_t block_size = ReductionTree<double>::block_size;

std::vector<double> random_numbers(std::size_t count) {
  std::mt19937_64 source(7);
  std::normal_distribution<double> numbers(3.0, 1e6);
  std::vector<double> made(count);
  std::ranges::generate(made, [&] { return numbers(source); });
  return made;
}

template <typename T>
Reduction<T> block_of(const std::vector<T>& numbers, std::size_t block) {
  const std::size_t first = block * block_size;
  return Reduction<T>::of(std::span(numbers).subspan(first, std::min(block_size, numbers.size() - first)));
}

bool have_same_bits(const Reduction<double>& a, const Reduction<double>& b) {
  const auto bits = [](double x) { return std::bit_cast<std::uint64_t>(x); };
  return a.count == b.count && bits(a.sum.sum) == bits(b.sum.sum) && bits(a.sum.lost) == bits(b.sum.lost) &&
         a.least == b.least && a.greatest == b.greatest && bits(a.m2) == bits(b.m2);
}

TEST_CASE("a reduction is what the plain definitions say") {
  for (const std::size_t count : {1, 2, 3, 4, 5, 7, 255, 256}) {
    const std::vector<double> numbers = random_numbers(count);
    const Reduction<double> all = Reduction<double>::of(numbers);
    long double sum = 0, m2 = 0;
    for (const double x : numbers) sum += x;
    const long double mean = sum / static_cast<long double>(count);
    for (const double x : numbers) m2 += (x - mean) * (x - mean);
    CHECK(all.count == static_cast<std::int64_t>(count));
    CHECK(all.sum.total() == doctest::Approx(static_cast<double>(sum)).epsilon(1e-15));
    CHECK(all.least == *std::ranges::min_element(numbers));
    CHECK(all.greatest == *std::ranges::max_element(numbers));
    CHECK(all.mean() == doctest::Approx(static_cast<double>(mean)).epsilon(1e-14));
    CHECK(all.m2 == doctest::Approx(static_cast<double>(m2)).epsilon(1e-13));
  }
}

TEST_CASE("without a deviation all else has the same bits") {
  std::mt19937_64 source(11);
  for (const double scale : {1.0, 1e-300, 1e130, 1e145, 1e160, 1e307}) {
    for (int round = 0; round < 200; ++round) {
      std::vector<double> numbers = random_numbers(1 + source() % (3 * block_size));
      const double offset = round % 3 == 0 ? 1e6 * scale : 0;
      for (double& number : numbers) number = number * 1e-6 * scale + offset;
      if (round % 10 == 9) numbers[source() % numbers.size()] = std::numeric_limits<double>::infinity();
      ReductionTree<double> whole, without;
      for (std::size_t block = 0; block * block_size < numbers.size(); ++block) {
        const std::size_t first = block * block_size;
        const auto part = std::span(numbers).subspan(first, std::min(block_size, numbers.size() - first));
        whole.add(block, Reduction<double>::of(part));
        without.add(block, Reduction<double>::of(part, /*has_deviation=*/false));
      }
      Reduction<double> one = whole.total(), other = without.total();
      one.m2 = other.m2 = 0;
      CHECK(have_same_bits(one, other));
      CHECK(one.exponent == other.exponent);
      CHECK(std::bit_cast<std::uint64_t>(one.total()) == std::bit_cast<std::uint64_t>(other.total()));
    }
  }
}

TEST_CASE("what rounding loses of a sum is kept") {
  std::vector<double> numbers(200, 1e-3);
  numbers[3] = 1e18;
  numbers[150] = -1e18;
  CHECK(Reduction<double>::of(numbers).sum.total() == doctest::Approx(0.198).epsilon(1e-15));
}

TEST_CASE("Inf and NaN") {
  constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const Reduction<double> infinite = Reduction<double>::of(std::vector<double>{1, inf, 2});
  CHECK(infinite.sum.total() == inf);
  CHECK_FALSE(infinite.has_nan);
  const Reduction<double> opposite = Reduction<double>::of(std::vector<double>{inf, 1, -inf});
  CHECK(std::isnan(opposite.sum.total()));
  CHECK_FALSE(opposite.has_nan);
  const Reduction<double> with_nan = Reduction<double>::of(std::vector<double>{5, nan, 2});
  CHECK(with_nan.has_nan);
  CHECK(with_nan.joined(infinite).has_nan);
}

TEST_CASE("deviations of large numbers that lie near each other") {
  constexpr std::int64_t large = 1'700'000'000'000'000'000;
  std::vector<std::int64_t> ints(1000);
  std::vector<double> floats(1000);
  for (std::int64_t i = 0; i < 1000; ++i) {
    ints[static_cast<std::size_t>(i)] = large + 100 * i;
    floats[static_cast<std::size_t>(i)] = static_cast<double>(large + 256 * i);
  }
  constexpr double m2 = 83333250;  // of 0 to 999
  const auto joined = [](const auto& numbers) {
    auto all = block_of(numbers, 0);
    for (std::size_t block = 1; block < 4; ++block) all = all.joined(block_of(numbers, block));
    return all.m2;
  };
  CHECK(joined(ints) == doctest::Approx(100 * 100 * m2).epsilon(1e-14));
  CHECK(joined(floats) == doctest::Approx(256.0 * 256 * m2).epsilon(1e-14));
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  CHECK(Reduction<std::int64_t>::of(std::vector<std::int64_t>{most, -most - 1}).m2 ==
        doctest::Approx(0x1p127).epsilon(1e-14));
}

TEST_CASE("sums of ints beyond the ints") {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max(), least = -most - 1;
  const Reduction<std::int64_t> all = Reduction<std::int64_t>::of(std::vector<std::int64_t>(256, most));
  CHECK(all.sum.sum == static_cast<WideSum::Wide>(most) * 256);
  const Reduction<std::int64_t> none = all.joined(Reduction<std::int64_t>::of(std::vector<std::int64_t>(256, least)));
  CHECK(none.sum.sum == -256);
  CHECK(none.least == least);
  CHECK(none.greatest == most);
}

TEST_CASE("a tree has the same bits in every order, and in parts") {
  for (const std::size_t block_count : {1, 2, 3, 5, 8, 13, 64, 100}) {
    const std::vector<double> numbers = random_numbers((block_count - 1) * block_size + 17);
    std::vector<std::size_t> order(block_count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    ReductionTree<double> in_order;
    for (const std::size_t block : order) in_order.add(block, block_of(numbers, block));
    const Reduction<double> expected = in_order.total();
    CHECK(expected.count == static_cast<std::int64_t>(numbers.size()));
    std::mt19937_64 source(block_count);
    for (int round = 0; round < 20; ++round) {
      std::ranges::shuffle(order, source);
      ReductionTree<double> tree, other;
      for (std::size_t i = 0; i < order.size(); ++i)
        (i % 3 == 0 ? other : tree).add(order[i], block_of(numbers, order[i]));
      tree.add(other);
      CHECK(have_same_bits(tree.total(), expected));
    }
  }
}

NumberChunk::Owner chunk_of(const std::vector<double>& numbers, std::size_t first) {
  NumberChunk::Owner chunk = NumberChunk::make(ValueKind::float_);
  std::copy_n(numbers.begin() + static_cast<std::ptrdiff_t>(first), block_size, static_cast<double*>(chunk->words()));
  return chunk;
}

TEST_CASE("an array's reduction does not depend on the form it is kept in") {
  const std::vector<double> numbers = random_numbers(5 * block_size + 100);
  const auto key = [](std::size_t i) { return Value::of(static_cast<std::int64_t>(i)); };
  const Reduction<double> expected = Array::packed_of(numbers)->reduce<double>();
  WakeList nobody;
  for (const auto& [is_reduced, has_deviation] :
       {std::pair(false, true), {false, false}, {true, false}, {true, true}}) {
    for (const std::size_t chunk_count : {0, 1, 4}) {
      Ref<Array> array = make_ref<Array>(1);
      if (is_reduced) array->keep_reductions(has_deviation);
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        const bool in_chunk = i >= block_size && i < (1 + chunk_count) * block_size;
        if (!in_chunk) array->insert(key(i))->set(Value::of(numbers[i]), nobody);
        if (!in_chunk || i % block_size != 0) continue;
        NumberChunk::Owner chunk = chunk_of(numbers, i);
        REQUIRE(array->has_number_chunk(static_cast<std::int64_t>(i)));
        if (is_reduced) {
          ChunkReductions reductions;
          reductions.add(static_cast<std::int64_t>(i), *chunk, has_deviation);
          array->insert_reduced(reductions);
        } else {
          CHECK(array->insert_numbers(static_cast<std::int64_t>(i), chunk));
        }
      }
      array->release_writers(1, nobody);
      CHECK(array->size() == numbers.size());
      Reduction<double> found = array->reduce<double>(has_deviation);
      CHECK(found.has_deviation == has_deviation);
      if (!has_deviation) found.m2 = expected.m2;
      CHECK(have_same_bits(found, expected));
    }
  }
}

TEST_CASE("keys that are no ints from 0 on are reduced, too") {
  std::vector<std::pair<Value, Value>> entries;
  for (int i = -300; i < 300; ++i) entries.emplace_back(Value::of(static_cast<std::int64_t>(i)), Value::of(i * 0.5));
  const Reduction<double> all = Array::keyed(std::move(entries))->reduce<double>();
  CHECK(all.count == 600);
  CHECK(all.sum.total() == -150);
  CHECK(all.least == -150);
  CHECK(all.greatest == 149.5);
}

}  // namespace
}  // namespace raddle::vm
