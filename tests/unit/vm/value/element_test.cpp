#include "vm/value/element.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "vm/value/failure.hpp"

namespace raddle::vm {
namespace {

struct NamedWaiter final : Waiter {
  void resolved(Worker&) override {}
};

/// How many waiters the list holds.
std::size_t count(WakeList& wake) {
  std::size_t waiters = 0;
  wake.shuffle([&] { return ++waiters, 0u; });  // asks once for each
  return waiters;
}

TEST_CASE("an element is untouched, awaited, inserted, in this order, and its waiters stay") {
  Element element;
  NamedWaiter first, second;
  WakeList wake;
  CHECK(element.mark() == ElementMark::untouched);
  CHECK(element.await() == ElementMark::awaited);
  CHECK(element.enlist(first));
  CHECK(element.mark() == ElementMark::awaited);
  CHECK(element.insert());
  CHECK(element.enlist(second));
  CHECK(element.is_inserted());
  CHECK_FALSE(element.is_resolved());
  CHECK(element.await() == ElementMark::inserted);
  CHECK_FALSE(element.insert());
  CHECK_FALSE(element.insert(Value::of(std::string("another")), wake));
  CHECK(wake.empty());
  CHECK(element.set(Value::of(std::string("its own")), wake));
  CHECK(count(wake) == 2);
  CHECK(element.is_inserted());
  CHECK(element.get().as_string() == "its own");
  CHECK_FALSE(element.insert());
}

TEST_CASE("an element that is inserted with its value was untouched or awaited") {
  for (const bool is_awaited : {false, true}) {
    Element element;
    NamedWaiter waiter;
    WakeList wake;
    if (is_awaited) {
      element.await();
      CHECK(element.enlist(waiter));
    }
    CHECK(element.insert(Value::of(2.5), wake));
    CHECK(wake.empty() == !is_awaited);
    CHECK(element.is_inserted());
    CHECK(element.get().as_float() == 2.5);
    CHECK_FALSE(element.insert(Value::of(3.5), wake));
    CHECK_FALSE(element.set(Value::of(3.5), wake));
    CHECK(element.get().as_float() == 2.5);
  }
}

TEST_CASE("a missing element has failed and is not inserted; one that is inserted can not be missing") {
  WakeList wake;
  Element missing;
  missing.await();
  missing.miss(failed_value(make_ref<Failure>("no such element", Place())), wake);
  CHECK(missing.is_failed());
  CHECK(missing.mark() == ElementMark::awaited);
  CHECK_FALSE(missing.insert());
  Element inserted;
  REQUIRE(inserted.insert());
  inserted.miss(failed_value(make_ref<Failure>("no such element", Place())), wake);
  CHECK_FALSE(inserted.is_resolved());
  Element failed;
  CHECK(failed.insert(failed_value(make_ref<Failure>("its computation failed", Place())), wake));
  CHECK(failed.is_inserted());
}

TEST_CASE("an element that lies elsewhere says so") {
  Element element;
  CHECK_FALSE(element.is_outside());
  element.leave_out();
  CHECK(element.is_outside());
  CHECK(element.mark() == ElementMark::outside);
  std::uint64_t bits = 0;
  CHECK_FALSE(element.holds(ValueKind::int_, bits));
}

}  // namespace
}  // namespace raddle::vm
