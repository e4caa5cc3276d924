#include "vm/value/element_table.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "vm/value/array.hpp"
#include "vm/value/keyed_elements.hpp"

namespace raddle::vm {
namespace {

void put(Array& array, std::int64_t at) {
  WakeList nobody;
  REQUIRE(array.insert(Value::of(at), Value::of(at), nobody));
}

/// Keys of `array` in the order of for_each; all values must be the keys.
std::vector<std::int64_t> keys_of(const Array& array) {
  std::vector<std::int64_t> keys;
  array.for_each([&](const Value& key, const Value& value) {
    CHECK(key.as_int() == value.as_int());
    keys.push_back(key.as_int());
  });
  return keys;
}

TEST_CASE("table elements do not move and are visited by increasing key") {
  ElementTable table;
  Element* first = table.make_small(0);
  for (std::int64_t key = 1; key < 256; ++key) table.make_small(key);
  for (const std::int64_t key : {256L, 511L, 512L, 100000L, ElementTable::limit - 1})
    table.make_chunk(key, std::vector<std::int64_t>{});
  CHECK(table.find(0) == first);
  CHECK(table.find(16) != nullptr);
  CHECK_FALSE(table.find(1000));
  std::vector<std::int64_t> marked = {0, 15, 16, 31, 32, 255, 256, 511, 512, 100000, ElementTable::limit - 1};
  for (const std::int64_t key : marked) table.find(key)->insert();
  std::vector<std::int64_t> visited;
  table.visit([&](std::int64_t key, Element&, ElementMark) { visited.push_back(key); },
              [](std::int64_t, const NumberRun&) { FAIL("there are no numbers"); });
  CHECK(visited == marked);
}

NumberChunk::Owner numbers_from(std::int64_t first) {
  NumberChunk::Owner numbers = NumberChunk::make(ValueKind::int_);
  for (std::int64_t i = 0; i < NumberChunk::size; ++i) static_cast<std::int64_t*>(numbers->words())[i] = first + i;
  return numbers;
}

TEST_CASE("numbers that come as a whole chunk are elements like others") {
  auto array = make_ref<Array>(1);
  for (std::int64_t i = 0; i < 256; ++i) put(*array, i);
  NumberChunk::Owner numbers = numbers_from(512);
  REQUIRE(array->insert_numbers(512, numbers));
  CHECK(!numbers);
  CHECK(array->contains(Value::of(std::int64_t{767})));
  CHECK_FALSE(array->contains(Value::of(std::int64_t{768})));
  CHECK(array->get(Value::of(std::int64_t{600})).as_int() == 600);
  CHECK(array->insert(Value::of(std::int64_t{600})) == nullptr);
  CHECK(array->element(Value::of(std::int64_t{600})) == nullptr);
  WakeList nobody;
  CHECK_FALSE(array->row(Value::of(std::int64_t{600}), nobody));
  numbers = numbers_from(512);
  CHECK_FALSE(array->insert_numbers(512, numbers));

  SUBCASE("not where one of them was read or written before, densely or not") {
    array->element(Value::of(std::int64_t{300}));
    put(*array, 5000);
    numbers = numbers_from(256);
    CHECK_FALSE(array->insert_numbers(256, numbers));
    numbers = numbers_from(5000 - 5000 % 256);
    CHECK_FALSE(array->insert_numbers(5000 - 5000 % 256, numbers));
    CHECK(!!numbers);
  }
  SUBCASE("the array is packed once it is dense") {
    std::size_t count = 0;
    numbers = numbers_from(256);
    REQUIRE(array->insert_numbers(256, numbers));
    put(*array, 768);
    array->release_writers(1, nobody);
    CHECK(array->size() == 769);
    const auto* all = static_cast<const std::int64_t*>(array->packed(count));
    REQUIRE(all != nullptr);
    CHECK(count == 769);
    for (std::int64_t i = 0; i < 769; ++i) CHECK(all[i] == i);
    CHECK(keys_of(*array).size() == 769);
  }
  SUBCASE("with a gap it is visited in order") {
    put(*array, 100000);
    array->release_writers(1, nobody);
    std::size_t count = 0;
    CHECK(array->packed(count) == nullptr);
    const std::vector<std::int64_t> keys = keys_of(*array);
    CHECK(keys.size() == 256 + 256 + 1);
    CHECK(std::ranges::is_sorted(keys));
  }
}

/// Inserts the numbers `first` to `end` - 1 with their own keys, and those that are left one by one.
/// @return how many were left
std::size_t insert_run(Array& array, std::int64_t first, std::int64_t end) {
  std::vector<std::int64_t> numbers, rest;
  for (std::int64_t key = first; key < end; ++key) numbers.push_back(key);
  WakeList nobody;
  array.insert_run(first, {ValueKind::int_, numbers.data(), end - first}, rest, nobody);
  for (const std::int64_t key : rest) put(array, key);
  return rest.size();
}

TEST_CASE("runs of numbers lie unboxed in blocks of small keys that they fill, and in chunks of which they are much") {
  auto array = make_ref<Array>(1);
  WakeList nobody;
  const auto key = [](std::int64_t at) { return Value::of(at); };
  CHECK(insert_run(*array, 1, 300) == 3 + 44);  // the first elements, and what is little of a chunk
  CHECK(insert_run(*array, 600, 700) == 0);
  put(*array, 599);  // beside the chunk
  put(*array, 701);
  Future* const awaited = array->element(key(710));
  std::vector<std::int64_t> rest;
  const std::vector<std::int64_t> numbers = {699, 700, 701, 702, 703};
  array->insert_run(699, {ValueKind::int_, numbers.data(), 5}, rest, nobody);
  CHECK(rest == std::vector<std::int64_t>{699, 701});  // both are there
  CHECK(insert_run(*array, 704, 767) == 1);
  CHECK(awaited->get().as_int() == 710);
  std::int64_t word = 0;
  REQUIRE(array->find_number(700, ValueKind::int_, word));
  CHECK(word == 700);
  CHECK_FALSE(array->find_number(700, ValueKind::float_, word));
  CHECK_FALSE(array->find_number(767, ValueKind::int_, word));
  for (const std::int64_t there : {20, 299, 599, 650, 766}) {
    CHECK(array->contains(key(there)));
    CHECK(array->get(key(there)).as_int() == there);
    CHECK_FALSE(array->insert(key(there), key(0), nobody));
  }
  CHECK(array->element(key(650)) == nullptr);
  CHECK_FALSE(array->contains(key(767)));
  CHECK(array->size() == 299 + 168);
  CHECK(std::ranges::is_sorted(keys_of(*array)));
  CHECK(keys_of(*array).size() == 299 + 168);

  put(*array, 0);
  insert_run(*array, 300, 599);
  insert_run(*array, 767, 1030);
  array->release_writers(1, nobody);
  std::size_t count = 0;
  const auto* all = static_cast<const std::int64_t*>(array->packed(count));
  REQUIRE(all != nullptr);
  REQUIRE(count == 1030);
  for (std::int64_t i = 0; i < 1030; ++i) CHECK(all[i] == i);
}

TEST_CASE("numbers are reduced in the same blocks, wherever they lie") {
  constexpr std::int64_t count = 1000;
  std::vector<double> numbers;
  for (std::int64_t i = 0; i < count; ++i) numbers.push_back(1.0 / static_cast<double>(i + 3));
  const auto sum = [&](std::int64_t step) {
    auto array = make_ref<Array>(1);
    WakeList nobody;
    for (std::int64_t first = 0; first < count; first += step) {
      std::vector<std::int64_t> rest;
      const std::int64_t here = std::min(step, count - first);
      if (step > 1)
        array->insert_run(first, {ValueKind::float_, &numbers[static_cast<std::size_t>(first)], here}, rest, nobody);
      if (step == 1) rest.push_back(first);
      for (const std::int64_t at : rest)
        array->insert(Value::of(at), Value::of(numbers[static_cast<std::size_t>(at)]), nobody);
    }
    array->release_writers(1, nobody);
    return array->reduce<double>().sum.total();
  };
  const double expected = sum(1);
  for (const std::int64_t step : {70, 100, 256, 300, 1000}) CHECK(sum(step) == expected);
}

TEST_CASE("an array is two cache lines, its first elements the second one") {
  CHECK(sizeof(Array) == 128);
  auto array = make_ref<Array>(1);
  const auto address = reinterpret_cast<std::uintptr_t>(array->insert(Value::of(std::int64_t{0})));
  CHECK(address - reinterpret_cast<std::uintptr_t>(array.get()) == 64);
  CHECK(address % 64 == 0);
}

TEST_CASE("keys behind a filled chunk lie in the table, in whatever order they come; others need not") {
  auto array = make_ref<Array>(1);
  const auto address_of = [&](std::int64_t at) { return array->insert(Value::of(at)); };
  for (std::int64_t at = 0; at < 256; ++at) address_of(at);
  Future* const later = address_of(300);
  CHECK(address_of(299) == later - 1);
  CHECK(address_of(256) == later - 44);
  Future* const far = address_of(100'000);
  CHECK(address_of(100'001) != far + 1);
  CHECK(address_of(ElementTable::limit - 200));  // behind its chunk there is none
}

TEST_CASE("a filled array is packed, whatever the order of the fill") {
  for (const bool backwards : {false, true}) {
    auto array = make_ref<Array>(1);
    constexpr std::int64_t count = 5000;
    for (std::int64_t i = 0; i < count; ++i) put(*array, backwards ? count - 1 - i : i);
    WakeList nobody;
    array->release_writers(1, nobody);
    std::size_t packed_count = 0;
    const auto* numbers = static_cast<const std::int64_t*>(array->packed(packed_count));
    REQUIRE(numbers != nullptr);
    REQUIRE(packed_count == count);
    for (std::int64_t i = 0; i < count; ++i) CHECK(numbers[i] == i);
  }
}

TEST_CASE("sparse and dense int keys of one array are found, counted and visited in order") {
  std::vector<std::int64_t> keys;
  for (std::int64_t i = -3; i < 300; ++i) keys.push_back(i);                     // blocks, a chunk
  for (std::int64_t i = 0; i < 2000; ++i) keys.push_back(20'000'101 + i * 100);  // a few in each chunk
  for (std::int64_t i = 0; i < 600; ++i) keys.push_back(50'000'000 + i);         // fills chunks after their first keys
  keys.push_back(ElementTable::limit);
  keys.push_back(std::int64_t{1} << 60);
  std::vector<std::int64_t> shuffled = keys;
  std::ranges::shuffle(shuffled, std::mt19937_64(7));
  auto array = make_ref<Array>(1);
  for (const std::int64_t key : shuffled) put(*array, key);
  for (const std::int64_t key : keys) {
    CHECK(array->insert(Value::of(key)) == nullptr);
    CHECK(array->get(Value::of(key)).as_int() == key);
  }
  CHECK_FALSE(array->contains(Value::of(std::int64_t{20'000'102})));
  CHECK(array->size() == keys.size());
  WakeList nobody;
  array->release_writers(1, nobody);
  CHECK(array->size() == keys.size());
  CHECK(keys_of(*array) == keys);
  std::size_t count = 0;
  CHECK(array->packed(count) == nullptr);
}

TEST_CASE("keys that are no ints are visited in their order") {
  auto array = Array::keyed({{Value::of(std::string("b")), Value::of(1.0)},
                             {Value::of(std::string("")), Value::of(2.0)},
                             {Value::of(std::string("ab")), Value::of(3.0)}});
  std::string order;
  array->for_each([&](const Value& key, const Value&) { order += key.as_string() + ","; });
  CHECK(order == ",ab,b,");
}

}  // namespace
}  // namespace raddle::vm
