#include "gpu/memory/batch_run.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "tests/unit/gpu/strict_card.hpp"

namespace raddle::gpu {
namespace {

constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t greatest = std::numeric_limits<std::int64_t>::max();

/// Of `count` points that read one array at constant distances, which lies nowhere.
vm::DeviceBatch batch_of(std::int64_t first, std::int64_t step, std::int64_t count, vm::NearElements near,
                         std::int64_t size, std::size_t element_bytes) {
  vm::DeviceBatch batch;
  batch.words = {first, step, count, 0, size};
  batch.arrays = {{.word = 3, .size_bytes = static_cast<std::size_t>(size) * element_bytes}};
  batch.near = {near};
  return batch;
}

ByteRange elements(std::size_t begin, std::size_t end, std::size_t element_bytes = 8) {
  return {begin * element_bytes, end * element_bytes};
}

}  // namespace

TEST_CASE("points read the elements at their distances, as far as the array has them") {
  const vm::NearElements beside{-1, 1};
  CHECK(bytes_read(batch_of(10, 1, 5, beside, 100, 8), 0) == elements(9, 16));
  CHECK(bytes_read(batch_of(14, -1, 5, beside, 100, 8), 0) == elements(9, 16));
  CHECK(bytes_read(batch_of(0, 1, 100, beside, 100, 4), 0) == elements(0, 100, 4));
  CHECK(bytes_read(batch_of(200, 1, 5, beside, 100, 8), 0) == elements(100, 100));
  vm::DeviceBatch anywhere = batch_of(10, 1, 5, beside, 100, 8);
  anywhere.near = {std::nullopt};
  CHECK(bytes_read(anywhere, 0) == elements(0, 100));
}

TEST_CASE("of arrays of many GB the right bytes are read") {
  for (const std::int64_t size : {std::int64_t{1'520'000'000}, std::int64_t{3'037'000'500}, std::int64_t{1} << 38})
    for (const std::size_t element_bytes : {std::size_t{1}, std::size_t{4}, std::size_t{8}}) {
      CAPTURE(size);
      CAPTURE(element_bytes);
      const auto first = static_cast<std::size_t>(size - 1000);
      CHECK(bytes_read(batch_of(size - 1000, 1, 1000, {-2, 0}, size, element_bytes), 0) ==
            elements(first - 2, first + 1000, element_bytes));
    }
}

TEST_CASE("points near the least and the greatest int read nothing of an array") {
  const vm::NearElements far{-(std::int64_t{1} << 31), std::int64_t{1} << 31};
  const auto is_nothing = [](ByteRange range) { return range.begin == range.end; };
  CHECK(is_nothing(bytes_read(batch_of(least, 1, 10, far, 100, 8), 0)));
  CHECK(is_nothing(bytes_read(batch_of(greatest - 9, 1, 10, far, 100, 8), 0)));
  CHECK(is_nothing(bytes_read(batch_of(greatest, -1, 10, {0, 0}, 100, 8), 0)));
  // all multiples of 2^57: the last one is further off than an int can say
  CHECK(bytes_read(batch_of(least, std::int64_t{1} << 57, 128, far, 100, 8), 0) == elements(0, 100));
}

TEST_CASE("halves of a batch begin where they should, however far their points lie apart") {
  StrictCard card(1 << 16);
  CardMemory memory(1024, 256);  // room for the results of 64 points beside the word for the least
  StrictCopies engine(card);
  std::vector<std::int64_t> results(128);
  vm::DeviceBatch batch;
  batch.words = {least, std::int64_t{1} << 57, 128, reinterpret_cast<std::int64_t>(results.data())};
  batch.results = {{.word = 3, .size_bytes = 8 * results.size()}};
  std::vector<std::int64_t> begins;
  const auto compute = [&](const vm::DeviceBatch& part, const std::vector<std::int64_t>& words, std::uint64_t) {
    begins.push_back(words[0]);
    const std::vector<std::int64_t> made(static_cast<std::size_t>(part.count()), words[0]);
    card.write(static_cast<std::uint64_t>(words[3]), made.data(), 8 * made.size());
    return std::expected<std::int64_t, int>(part.count());
  };
  CHECK(run_batch(batch, memory, engine, compute).made == 128);
  CHECK(begins == std::vector<std::int64_t>{least, 0});
  CHECK(results.front() == least);
  CHECK(results.back() == 0);
  memory.give_back_chunks(engine);
}

}  // namespace raddle::gpu
