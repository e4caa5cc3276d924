#include "vm/value/bag.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "vm/value/array.hpp"
#include "vm/value/updateable.hpp"

namespace raddle::vm {
namespace {

TEST_CASE("a bag keeps equal values and closes when the last writer releases it") {
  auto bag = make_ref<Bag>(1);
  WakeList nobody;
  bag->add_writers(1);
  bag->append().set(Value::of(std::int64_t{1}), nobody);
  bag->append().set(Value::of(std::int64_t{1}), nobody);
  Future& late = bag->append();
  bag->release_writers(1, nobody);
  CHECK_FALSE(bag->is_closed());
  bag->release_writers(1, nobody);
  CHECK(bag->is_closed());
  CHECK(bag->size() == 3);
  int unset = 0;
  bag->for_each([&](const Value& value) { unset += !value; });
  CHECK(unset == 1);
  late.set(Value::of(std::int64_t{5}), nobody);
  std::int64_t sum = 0;
  bag->for_each([&](const Value& value) { sum += value.as_int(); });
  CHECK(sum == 7);
}

TEST_CASE("a bag closes with the first failure of a writer") {
  auto bag = make_ref<Bag>(2);
  WakeList nobody;
  const Value first = failed_value(make_ref<Failure>("first", Place{}));
  bag->fail(first);
  bag->release_writers(1, nobody);
  CHECK_FALSE(bag->is_closed());
  bag->fail(failed_value(make_ref<Failure>("second", Place{})));
  bag->release_writers(1, nobody);
  REQUIRE(bag->closed().is_failed());
  CHECK(bag->closed().get().object() == first.object());
}

TEST_CASE("a bag without writers is closed and empty") {
  CHECK(make_ref<Bag>(0)->is_closed());
  CHECK(make_ref<Bag>(0)->size() == 0);
}

TEST_CASE("bags of an array are made once for a key and close with it") {
  auto array = make_ref<Array>(1);
  WakeList nobody;
  const Value key = Value::of(std::string("k"));
  Ref<Bag> bag = array->bag_row(key, nobody);
  CHECK(array->bag_row(key, nobody).get() == bag.get());
  CHECK_FALSE(bag->is_closed());
  array->release_writers(1, nobody);
  CHECK(bag->is_closed());
}

TEST_CASE("an updateable is incremented, scaled and lowered") {
  Updateable total(1.0);
  total.update(Updateable::Mode::increment, 2.5);
  CHECK(total.get() == 3.5);
  total.update(Updateable::Mode::scale, 2.0);
  CHECK(total.get() == 7.0);
  total.update(Updateable::Mode::minimum, 9.0);
  CHECK(total.get() == 7.0);
  total.update(Updateable::Mode::minimum, -1.0);
  CHECK(total.get() == -1.0);
}

TEST_CASE("many updates at once are as many single ones") {
  for (std::size_t count : {0, 1, 7, 8, 9, 100}) {
    std::vector<double> operands;  // sums and products of powers of two are exact in any order
    for (std::size_t i = 0; i < count; ++i) operands.push_back(i % 2 == 0 ? 0.5 : i % 3 == 0 ? -2.0 : 2.0);
    for (const auto mode : {Updateable::Mode::increment, Updateable::Mode::minimum, Updateable::Mode::scale}) {
      Updateable at_once(3.0), singly(3.0);
      at_once.update(mode, operands);
      for (const double operand : operands) singly.update(mode, operand);
      CHECK(at_once.get() == singly.get());
    }
  }
}

}  // namespace
}  // namespace raddle::vm
