// Arrays whose numbers launches write into one buffer.
#include <doctest/doctest.h>

#include <bit>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "vm/value/array.hpp"
#include "tests/unit/vm/value/array_elements.hpp"

namespace raddle::vm {
namespace {

/// Writes `first` to `end` - 1 of an array of floats that was promised: half of the key each.
void write_promised(Array& array, std::int64_t first, std::int64_t end, WakeList& wake) {
  for (std::int64_t k = first; k < end; ++k)
    *static_cast<double*>(array.numbers()->numbers().at_index(static_cast<std::size_t>(k))) =
        0.5 * static_cast<double>(k);
  array.tell_written({first, end - first}, wake);
}

TEST_CASE("numbers of 32 bits take 4 bytes, and are the values that they were") {
  WakeList nobody;
  for (const ValueKind kind : {ValueKind::int32, ValueKind::float32}) {
    const auto value_of = [&](std::int64_t k) {
      const auto number = static_cast<std::int32_t>(3 - 2 * k);
      return kind == ValueKind::int32 ? Value::of_int32(number) : Value::of_float32(static_cast<float>(number) / 3);
    };
    auto array = make_ref<Array>(1, "A");
    for (std::int64_t k = 0; k < 300; ++k) CHECK(array->insert(key(k), value_of(k), nobody));
    array->release_writers(1, nobody);
    std::vector<std::byte> runs;
    array->for_each_run([&](const void* numbers, std::size_t count) {
      const auto* const bytes = static_cast<const std::byte*>(numbers);
      runs.insert(runs.end(), bytes, bytes + 4 * count);
    });
    Buffer* const packed = array->packed_numbers();
    REQUIRE(packed != nullptr);
    CHECK(packed->kind() == kind);
    REQUIRE(runs.size() == 1200);
    CHECK(std::memcmp(packed->data(), runs.data(), runs.size()) == 0);
    for (std::int64_t k = 0; k < 300; ++k) {
      CHECK(array->get(key(k)).bits() == value_of(k).bits());
      std::int64_t word = 0;
      CHECK(array->find_number(k, kind, word));
      CHECK(static_cast<std::uint64_t>(word) == value_of(k).bits());
    }
    CHECK(packed->at(7).kind() == kind);
  }
}

TEST_CASE("numbers of elements that were inserted before they were there lie where the others do") {
  WakeList wake;
  for (const std::int64_t late : {0, 70, 129}) {
    CAPTURE(late);
    auto array = make_ref<Array>(2, "A");
    array->expect_numbers(ValueKind::float_, 130);
    Future* const element = array->insert(key(late));
    REQUIRE(element != nullptr);
    CHECK_FALSE(array->insert(key(late), Value::of(1.0), wake));
    std::vector<double> numbers(130, 2.0);
    std::vector<std::int64_t> left;
    array->insert_run(0, {ValueKind::float_, numbers.data(), late}, left, wake);
    array->insert_run(late + 1, {ValueKind::float_, numbers.data(), 129 - late}, left, wake);
    CHECK(left.empty());
    element->set(Value::of(7.5), wake);
    array->release_writers(2, wake);
    REQUIRE(array->is_complete());
    std::size_t count = 0;
    const auto* const packed = static_cast<const double*>(array->packed(count));
    REQUIRE(count == 130);
    CHECK(packed == array->numbers()->numbers().data());
    CHECK(packed[late] == 7.5);
    CHECK(array->reduce<double>().sum.total() == 7.5 + 129 * 2.0);
  }
}

TEST_CASE("promised numbers are there as they are written, and the array is packed where they were written") {
  WakeList wake;
  auto array = make_ref<Array>(1, "A");
  Future* const early = array->element(key(70));
  Future* const never = array->element(key(200));
  REQUIRE(array->promise_numbers(ValueKind::float_, 130));
  CHECK(array->is_promised());
  CHECK_FALSE(array->promise_numbers(ValueKind::float_, 130));
  CHECK(array->size() == 0);
  CHECK_FALSE(array->get(key(0)));
  write_promised(*array, 0, 65, wake);
  CHECK(array->size() == 65);
  CHECK(array->get(key(64)).as_float() == 32.0);
  CHECK(array->element(key(64)) == nullptr);  // a number: get() has it
  CHECK_FALSE(array->contains(key(65)));
  CHECK_FALSE(early->is_resolved());
  write_promised(*array, 65, 130, wake);
  REQUIRE(early->is_resolved());
  CHECK(early->get().as_float() == 35.0);
  CHECK(array->size() == 130);
  const void* const numbers = array->numbers()->numbers().data();
  CHECK_FALSE(array->is_closed());
  array->release_writers(1, wake);
  CHECK(array->is_complete());
  CHECK(never->is_failed());
  CHECK(as_failure(never->get()).message == "`A` has no element 200: it has 130 elements, 0..129");
  std::size_t count = 0;
  CHECK(array->packed(count) == numbers);
  CHECK(count == 130);
  CHECK(array->size() == 130);
  CHECK(array->get(key(129)).as_float() == 64.5);
  CHECK(array->get(key(70)).as_float() == 35.0);
  CHECK_FALSE(array->get(key(130)));
  CHECK(array->reduce<double>().sum.total() == 0.5 * 129 * 130 / 2);
  std::int64_t word = 0;
  CHECK(array->find_number(3, ValueKind::float_, word));
  CHECK(std::bit_cast<double>(word) == 1.5);
  CHECK_FALSE(array->find_number(3, ValueKind::int_, word));
}

TEST_CASE("a promise of which some elements are written one by one ends in an array like any other") {
  WakeList wake;
  auto array = make_ref<Array>(1, "A");
  REQUIRE(array->promise_numbers(ValueKind::float_, 600));
  write_promised(*array, 0, 300, wake);
  for (std::int64_t k = 300; k < 310; ++k) CHECK(array->insert(key(k), Value::of(0.5 * static_cast<double>(k)), wake));
  Future* const awaited = array->element(key(400));
  write_promised(*array, 310, 600, wake);
  CHECK(awaited->get().as_float() == 200.0);
  CHECK(array->get(key(305)).as_float() == 152.5);
  array->release_writers(1, wake);
  CHECK(array->size() == 600);
  std::size_t count = 0;
  const auto* const numbers = static_cast<const double*>(array->packed(count));
  REQUIRE(numbers);
  REQUIRE(count == 600);
  for (std::size_t i = 0; i < count; ++i) CHECK(numbers[i] == 0.5 * static_cast<double>(i));
}

TEST_CASE("a promise that is broken leaves what was written, and the failure") {
  WakeList wake;
  auto array = make_ref<Array>(1, "A");
  REQUIRE(array->promise_numbers(ValueKind::boolean, 3));
  *static_cast<std::uint8_t*>(array->numbers()->numbers().at_index(1)) = 1;
  array->tell_written({1, 1}, wake);
  array->fail(failed_value(make_ref<Failure>("no", Place())));
  array->release_writers(1, wake);
  CHECK(array->closed().is_failed());
  CHECK(array->size() == 1);
  CHECK(array->get(key(1)).as_bool());
  CHECK_FALSE(array->get(key(0)));
  std::size_t count = 0;
  CHECK_FALSE(array->packed(count));
}

TEST_CASE("only who is alone with an empty array can promise its elements") {
  WakeList wake;
  auto others = make_ref<Array>(2);
  CHECK_FALSE(others->promise_numbers(ValueKind::int_, 9));
  auto begun = make_ref<Array>(1);
  put(*begun, key(0), key(0));
  CHECK_FALSE(begun->promise_numbers(ValueKind::int_, 9));
  auto keyed = make_ref<Array>(1);
  put(*keyed, Value::of(std::string("x")), key(0));
  CHECK_FALSE(keyed->promise_numbers(ValueKind::int_, 9));
  auto reduced = make_ref<Array>(1);
  reduced->keep_reductions(/*has_deviation=*/true);
  CHECK_FALSE(reduced->promise_numbers(ValueKind::int_, 9));
  auto unwritten = make_ref<Array>(1);
  CHECK(unwritten->promise_numbers(ValueKind::int_, 9));
  unwritten->release_writers(1, wake);
  CHECK(unwritten->size() == 0);
}

TEST_CASE("expected numbers: several write them, who needs them knows when all are promised") {
  WakeList wake;
  auto array = make_ref<Array>(2, "A");
  array->expect_numbers(ValueKind::float_, 100);
  CHECK_FALSE(array->is_promised());
  REQUIRE(array->announced());
  array->promise_part(60, true, wake);
  REQUIRE(array->announced());
  array->promise_part(40, true, wake);
  CHECK(array->announced() == nullptr);
  CHECK(array->is_promised());
  REQUIRE(array->numbers()->claim(0, 60) == 60);
  write_promised(*array, 0, 60, wake);
  CHECK_FALSE(array->insert(key(59), Value::of(1.0), wake));
  CHECK(array->insert(key(59)) == nullptr);
  std::vector<std::int64_t> rest;
  std::vector<double> numbers(50, 0.25);
  array->insert_run(60, {ValueKind::float_, numbers.data(), 39}, rest, wake);
  CHECK(rest.empty());
  array->insert_run(90, {ValueKind::float_, numbers.data(), 10}, rest, wake);
  CHECK(rest.size() == 10);  // the first one is there
  CHECK(array->insert(key(99), Value::of(2.5), wake));
  CHECK(array->get(key(99)).as_float() == 2.5);
  CHECK(array->size() == 100);
  array->release_writers(2, wake);
  std::size_t count = 0;
  const auto* const all = static_cast<const double*>(array->packed(count));
  REQUIRE(count == 100);
  CHECK(all == array->numbers()->numbers().data());
  CHECK(all[59] == 29.5);
  CHECK(all[98] == 0.25);
}

TEST_CASE("expected numbers: an element that failed, or that is to come, ends in an array like any other") {
  WakeList wake;
  auto array = make_ref<Array>(1, "A");
  array->expect_numbers(ValueKind::int_, 4);
  CHECK(array->insert(key(0), key(10), wake));
  Future* const later = array->insert(key(1));
  REQUIRE(later);
  CHECK_FALSE(array->insert(key(1), key(11), wake));
  CHECK(array->insert(key(2), failed_value(make_ref<Failure>("no", Place())), wake));
  CHECK(array->insert(key(3), key(13), wake));
  Future* const settled = array->announced();
  REQUIRE(settled);
  array->release_writers(1, wake);
  CHECK(settled->is_resolved());
  later->set(key(11), wake);
  CHECK(array->size() == 4);
  for (const std::int64_t k : {0, 1, 3}) CHECK(array->get(key(k)).as_int() == 10 + k);
  CHECK(array->get(key(2)).kind() == ValueKind::failure);
  std::size_t count = 0;
  CHECK_FALSE(array->packed(count));
}

TEST_CASE("expected numbers: two launches that each write all of them, one after the other") {
  WakeList wake;
  auto array = make_ref<Array>(2, "A");
  array->expect_numbers(ValueKind::float_, 10);
  array->promise_part(10, true, wake);
  CHECK(array->numbers()->claim(0, 10) == 10);
  write_promised(*array, 0, 10, wake);
  array->release_writers(1, wake);
  array->promise_part(10, true, wake);  // now the only writer, but not the first one
  CHECK(array->numbers()->claim(0, 10) == 0);
  auto alone = make_ref<Array>(1, "B");
  alone->expect_numbers(ValueKind::float_, 10);
  alone->promise_part(10, true, wake);
  CHECK(alone->numbers()->claim(0, 10) == 10);
  CHECK(alone->numbers()->claim(0, 10) == 10);  // it writes none twice
}

TEST_CASE("expected numbers: one that never comes is missing, one of none is empty") {
  WakeList wake;
  auto array = make_ref<Array>(1, "A");
  array->expect_numbers(ValueKind::int_, 3);
  CHECK(array->insert(key(1), key(7), wake));
  Future* const never = array->element(key(2));
  array->release_writers(1, wake);
  REQUIRE(never->is_failed());
  CHECK(as_failure(never->get()).message == "`A` has no element 2: it has 1 element: 1");
  auto none = make_ref<Array>(1);
  none->expect_numbers(ValueKind::int_, 0);
  none->release_writers(1, wake);
  CHECK(none->is_complete());
  CHECK(none->size() == 0);
}

}  // namespace
}  // namespace raddle::vm
