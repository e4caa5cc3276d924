#include "vm/value/array.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/unit/vm/value/array_elements.hpp"

namespace raddle::vm {
namespace {

TEST_CASE("elements are found again, whatever their keys, and each key is inserted once") {
  auto array = make_ref<Array>(1);
  for (const std::int64_t k : {0L, 7L, 8L, 1000000L, -3L, 1L << 40}) put(*array, key(k), key(k * 2));
  put(*array, Value::of(std::string("x")), Value::of(1.5));
  put(*array, Value::of(2.5), Value::of(true));
  CHECK(array->size() == 8);
  CHECK(array->get(key(1000000)).as_int() == 2000000);
  CHECK(array->get(key(-3)).as_int() == -6);
  CHECK(array->get(key(1L << 40)).as_int() == 1L << 41);
  CHECK(array->get(Value::of(std::string("x"))).as_float() == 1.5);
  CHECK(array->get(Value::of(2.5)).as_bool());
  CHECK(array->insert(key(7)) == nullptr);
  CHECK(array->insert(Value::of(std::string("x"))) == nullptr);
  CHECK_FALSE(array->contains(key(9)));
  WakeList nobody;
  array->release_writers(1, nobody);
  std::string order;
  array->for_each([&](const Value& k, const Value&) {
    if (k.kind() == ValueKind::int_) order += std::to_string(k.as_int()) + " ";
  });
  CHECK(order == "-3 0 7 8 1000000 1099511627776 ");
}

TEST_CASE("an array closes when the last writer releases it; absent elements fail then") {
  auto array = make_ref<Array>(2, "A");
  Future* element = array->element(key(7));
  REQUIRE(element != nullptr);
  WakeList nobody;
  array->release_writers(1, nobody);
  CHECK_FALSE(array->is_closed());
  CHECK_FALSE(element->is_resolved());
  array->release_writers(1, nobody);
  CHECK(array->is_closed());
  REQUIRE(element->is_failed());
  CHECK(as_failure(element->get()).message == "`A` has no element 7: it is empty");
  CHECK(array->element(key(8)) == nullptr);
  CHECK(array->size() == 0);
}

TEST_CASE("however many keys: in order of the keys; who waits for another one is told that there is none") {
  for (const int count : {1, 256, 257, 2000}) {
    auto array = make_ref<Array>(1, "A");
    std::vector<std::string> names;
    for (int i = 0; i < count; ++i) names.push_back(std::to_string(i));
    for (const std::string& name : names) put(*array, Value::of(name), Value::of(name));
    Future* const absent = array->element(Value::of(std::string("absent")));
    Future* const beside = array->element(key(-7));
    REQUIRE(absent);
    REQUIRE(beside);
    WakeList nobody;
    array->release_writers(1, nobody);
    CHECK(as_failure(absent->get()).message.starts_with("`A` has no element \"absent\": it has "));
    CHECK(as_failure(beside->get()).message.starts_with("`A` has no element -7: it has "));
    CHECK(array->size() == names.size());
    std::ranges::sort(names);
    std::vector<std::string> found;
    array->for_each([&](const Value& k, const Value& value) {
      CHECK(k.as_string() == value.as_string());
      found.push_back(k.as_string());
    });
    CHECK(found == names);
  }
}

TEST_CASE("an element that was inserted but not set yet survives closing") {
  auto array = make_ref<Array>(1, "A");
  Future* element = array->insert(key(0));
  WakeList nobody;
  array->release_writers(1, nobody);
  CHECK_FALSE(element->is_resolved());
  CHECK(array->element(key(0)) == element);
  CHECK_FALSE(array->get(key(0)));
  std::size_t count = 0;
  CHECK(array->packed(count) == nullptr);
  element->set(Value::of(2.0), nobody);
  const auto* numbers = static_cast<const double*>(array->packed(count));
  REQUIRE(numbers != nullptr);
  CHECK(count == 1);
  CHECK(numbers[0] == 2.0);
}

TEST_CASE("rows close with the array around them") {
  auto array = make_ref<Array>(1, "A");
  WakeList nobody;
  Array* const row = array->row(key(1), nobody);
  put(*row, key(2), key(3));
  CHECK(array->row(key(1), nobody) == row);
  CHECK_FALSE(row->is_closed());
  array->release_writers(1, nobody);
  CHECK(row->is_closed());
  CHECK(array->get(key(1)).as_array().get(key(2)).as_int() == 3);
}

TEST_CASE("numbers and rows are found without a reference; what is no plain element is left to get()") {
  auto array = make_ref<Array>(1, "A");
  WakeList nobody;
  std::int64_t word = 0;
  CHECK_FALSE(array->find_number(3, ValueKind::int_, word));
  REQUIRE(array->element(key(3)) != nullptr);
  CHECK_FALSE(array->find_number(3, ValueKind::int_, word));
  put(*array, key(3), key(-5));
  REQUIRE(array->find_number(3, ValueKind::int_, word));
  CHECK(word == -5);
  CHECK_FALSE(array->find_number(3, ValueKind::float_, word));
  put(*array, key(-1), key(7));
  CHECK_FALSE(array->find_number(-1, ValueKind::int_, word));
  const Ref<Array> packed = Array::packed_of(std::vector<std::int64_t>{4});
  REQUIRE(packed->find_number(0, ValueKind::int_, word));
  CHECK(word == 4);
  CHECK_FALSE(packed->find_number(0, ValueKind::boolean, word));
  CHECK_FALSE(packed->find_number(1, ValueKind::int_, word));

  CHECK(array->nested(key(3)) == nullptr);
  CHECK(array->made_row(key(4)) == nullptr);
  Array* const row = array->row(key(4), nobody);
  CHECK(array->nested(key(4)) == row);
  CHECK(array->made_row(key(4)) == row);
  Ref<Array> whole = Array::packed_of(std::vector<std::int64_t>{4});
  put(*array, key(5), Value::of_object(ValueKind::array, whole));
  CHECK(array->nested(key(5)) == whole.get());
  CHECK(array->made_row(key(5)) == nullptr);
  CHECK_FALSE(array->row(key(5), nobody));
  array->release_writers(1, nobody);
}

TEST_CASE("arrays with gaps or mixed kinds are not packed; ranges are") {
  std::size_t count = 0;
  auto gaps = Array::keyed({{key(0), key(1)}, {key(2), key(3)}});
  CHECK(gaps->packed(count) == nullptr);
  auto range = Array::packed_of(std::vector<std::int64_t>{3, 6, 9});
  const auto* numbers = static_cast<const std::int64_t*>(range->packed(count));
  REQUIRE(count == 3);
  CHECK(numbers[0] == 3);
  CHECK(numbers[2] == 9);
  CHECK(Array::packed_of(std::vector<double>{})->size() == 0);
  CHECK(range->element(key(3)) == nullptr);
}

TEST_CASE("elements of rows have names; 0.0 and -0.0 are one key, NaN is a key") {
  WakeList nobody;
  auto array = make_ref<Array>(1, "a");
  Array* const row = array->row(Value::of(std::string("x")), nobody);
  CHECK(row->element_name(Value::of(true)) == "a[\"x\"][true]");
  REQUIRE(array->insert(Value::of(0.0)) != nullptr);
  CHECK(array->insert(Value::of(-0.0)) == nullptr);
  CHECK(array->contains(Value::of(-0.0)));
  const Value nan = Value::of(std::nan(""));
  REQUIRE(array->insert(nan) != nullptr);
  CHECK(array->insert(nan) == nullptr);
  array->release_writers(1, nobody);
  CHECK(array->size() == 3);
}

TEST_CASE("rows keep their names when the array around them is gone, closed or not") {
  WakeList nobody;
  for (const bool is_closed : {true, false}) {
    auto array = make_ref<Array>(1, "a", Place{1, 2, 3});
    const Ref<Array> row = Ref<Array>::share(array->row(key(7), nobody));
    const Ref<Array> inner = Ref<Array>::share(row->row(Value::of(std::string("x")), nobody));
    CHECK(row->parent() == array.get());
    CHECK(inner->parent() == row.get());
    if (is_closed) array->release_writers(1, nobody);
    array = {};
    CHECK(row->parent() == nullptr);
    CHECK(row->is_closed() == is_closed);
    CHECK(inner->is_closed() == is_closed);
    CHECK(row->name() == "a[7]");
    CHECK(inner->name() == "a[7][\"x\"]");
    if (is_closed) CHECK(row->missing(key(9))->place == Place{1, 2, 3});
  }
}

TEST_CASE("a chain of a million nested arrays is destroyed without recursion") {
  Value inner = key(0);
  for (int i = 0; i < 1000000; ++i) inner = Value::of_object(ValueKind::array, Array::keyed({{key(-1), inner}}));
  CHECK(inner.as_array().size() == 1);
}

TEST_CASE("an array whose writer failed fails its rows and whoever waits for what is not there") {
  auto array = make_ref<Array>(2);
  WakeList wake;
  const Value failure = failed_value(make_ref<Failure>("no key", Place{}));
  const Value key = Value::of(std::int64_t{1}), absent = Value::of(std::int64_t{2});
  array->insert(key)->set(Value::of(std::int64_t{10}), wake);
  Array* const row = array->row(Value::of(std::int64_t{3}), wake);
  Future* awaited = array->element(absent);
  REQUIRE(awaited);
  array->fail(failure);
  array->release_writers(2, wake);
  CHECK(array->closed().is_failed());
  CHECK(row->closed().get().object() == failure.object());
  CHECK(awaited->get().object() == failure.object());
  CHECK(array->missing(absent).get() == failure.object());
  CHECK(array->get(key).as_int() == 10);  // what was written stays
  std::size_t count = 0;
  CHECK_FALSE(array->packed(count));
  CHECK_FALSE(array->is_packable(count));
}

}  // namespace
}  // namespace raddle::vm
