#include "vm/value/future.hpp"

#include <doctest/doctest.h>

#include <string>

#include "vm/schedule/worker_pool.hpp"
#include "vm/value/failure.hpp"

namespace raddle::vm {
namespace {

struct CountingWaiter final : Waiter {
  int told = 0;
  void resolved(Worker&) override { ++told; }
};

/// Runs `body(worker)` on the worker of a pool of one.
template <typename Body>
void on_worker(const Body& body) {
  struct Once final : Task {
    const Body* body = nullptr;
    void run(Worker& worker) override { (*body)(worker); }
  } once;
  once.body = &body;
  WorkerPool pool(1);
  pool.inject(once);
  pool.run();
}

struct OrderedWaiter final : Waiter {
  OrderedWaiter(std::string& told, char name, bool yields) : told(told), name(name), yields(yields) {}
  void resolved(Worker&) override { told += name; }
  bool yields_to_older() const override { return yields; }
  std::string& told;
  const char name;
  const bool yields;
};

TEST_CASE("of what waits for one variable the oldest is told first, but if the youngest is a launch that one") {
  for (const bool yields : {true, false}) {
    std::string told;
    OrderedWaiter a(told, 'a', yields), b(told, 'b', yields), c(told, 'c', true), d(told, 'd', yields);
    Future first, second, third, nobodys;
    CHECK((first.enlist(a) && first.enlist(b) && second.enlist(c) && third.enlist(d)));
    on_worker([&](Worker& worker) {
      WakeList wake;
      first.set(Value::of(1.0), wake);
      nobodys.set(Value::of(1.0), wake);
      second.set(Value::of(2.0), wake);
      third.set(Value::of(3.0), wake);
      wake.wake_all(worker);
      CHECK(wake.empty());
    });
    CHECK(told == (yields ? "bacd" : "dabc"));
  }
}

TEST_CASE("a second assignment is refused and the first value kept") {
  Future future;
  WakeList wake;
  CHECK_FALSE(future.is_resolved());
  CHECK_FALSE(future.get());
  CHECK(future.set(Value::of(std::string("first")), wake));
  CHECK_FALSE(future.set(Value::of(std::string("second")), wake));
  CHECK(future.kind() == ValueKind::string);
  CHECK(future.get().as_string() == "first");
  CHECK(wake.empty());
}

TEST_CASE("waiters enlisted before are told once, later ones are not enlisted") {
  Future future;
  CountingWaiter first, second, late;
  CHECK(future.enlist(first));
  CHECK(future.enlist(second));
  WakeList wake;
  CHECK(future.set(Value::of(2.5), wake));
  CHECK_FALSE(future.enlist(late));
  on_worker([&](Worker& worker) { wake.wake_all(worker); });
  CHECK(first.told == 1);
  CHECK(second.told == 1);
  CHECK(late.told == 0);
  CHECK(future.get().as_float() == 2.5);
}

TEST_CASE("a failure resolves a future as failed; init sets an unshared one") {
  Future failed;
  WakeList wake;
  failed.set(failed_value(make_ref<Failure>("division by zero", Place{})), wake);
  CHECK(failed.is_failed());
  CHECK(as_failure(failed.get()).message == "division by zero");
  Future initial;
  initial.init(Value::of(std::int64_t{7}));
  CHECK(initial.is_resolved());
  CHECK_FALSE(initial.is_failed());
  CHECK(initial.get().as_int() == 7);
  CHECK_FALSE(initial.set(Value::of(std::int64_t{8}), wake));
}

}  // namespace
}  // namespace raddle::vm
