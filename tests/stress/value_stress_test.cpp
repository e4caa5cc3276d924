// Futures and arrays under many threads: one winner for each set, each waiter told once, nothing lost at closing.
#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "tests/stress/schedulers.hpp"
#include "vm/value/array.hpp"
#include "vm/value/future.hpp"

namespace raddle::vm {
namespace {

struct CountingWaiter final : Waiter {
  std::atomic<int> told{0};
  void resolved(Worker&) override { told.fetch_add(1); }
};

/// Runs `body(index, worker)` on every one of `count` workers' tasks at once.
template <typename Body>
void in_parallel(unsigned count, const PoolOptions& options, const Body& body) {
  struct Part final : Task {
    const Body* body = nullptr;
    unsigned index = 0;
    void run(Worker& worker) override { (*body)(index, worker); }
  };
  WorkerPool pool(count, options);
  std::vector<Part> parts(count);
  for (unsigned i = 0; i < count; ++i) {
    parts[i].body = &body;
    parts[i].index = i;
    pool.inject(parts[i]);
  }
  pool.run();
}

void race_setters(const PoolOptions& options) {
  constexpr int rounds = 300;
  constexpr unsigned threads = 4;
  std::vector<Future> futures(rounds);
  std::vector<std::unique_ptr<CountingWaiter>> waiters;
  for (int i = 0; i < rounds * 8; ++i) waiters.push_back(std::make_unique<CountingWaiter>());
  std::atomic<int> wins{0};
  std::atomic<int> already{0};
  in_parallel(threads, options, [&](unsigned index, Worker& worker) {
    for (int r = 0; r < rounds; ++r) {
      Future& future = futures[static_cast<std::size_t>(r)];
      if (index % 2 == 0) {
        WakeList wake;
        if (future.set(Value::of(std::string("value")), wake)) wins.fetch_add(1);
        wake.wake_all(worker);
      } else {
        for (std::size_t w = 0; w < 4; ++w) {
          CountingWaiter& waiter = *waiters[static_cast<std::size_t>(r) * 8 + (index / 2) * 4 + w];
          if (!future.enlist(waiter)) {
            already.fetch_add(1);
            waiter.told.fetch_add(1);
            CHECK(future.get().as_string() == "value");
          }
        }
      }
    }
  });
  CHECK(wins.load() == rounds);
  for (const auto& waiter : waiters) CHECK(waiter->told.load() == 1);
}

TEST_CASE("of racing setters one wins, and every waiter hears of it exactly once") {
  for (const PoolOptions& options : schedulers) race_setters(options);
}

void write_and_read(const PoolOptions& options) {
  for (int round = 0; round < 20; ++round) {
    constexpr std::int64_t count = 2000;
    auto array = make_ref<Array>(4, "A");
    std::vector<std::unique_ptr<CountingWaiter>> waiters;
    for (std::int64_t i = 0; i < 2 * count; ++i) waiters.push_back(std::make_unique<CountingWaiter>());
    std::atomic<std::int64_t> missing{0};
    in_parallel(8, options, [&](unsigned index, Worker& worker) {
      if (index < 4) {
        for (std::int64_t k = index; k < count; k += 4) {
          WakeList wake;
          array->insert(Value::of(k))->set(Value::of(k), wake);
          wake.wake_all(worker);
        }
        WakeList wake;
        array->release_writers(1, wake);
        wake.wake_all(worker);
        return;
      }
      for (std::int64_t k = index - 4; k < 2 * count; k += 4) {
        CountingWaiter& waiter = *waiters[static_cast<std::size_t>(k)];
        Future* element = array->element(Value::of(k));
        if (!element) missing.fetch_add(1);
        if (!element || !element->enlist(waiter)) waiter.told.fetch_add(1);
      }
    });
    CHECK(array->is_closed());
    CHECK(array->size() == count);
    for (const auto& waiter : waiters) CHECK(waiter->told.load() == 1);
    CHECK(missing.load() <= count);
  }
}

TEST_CASE("many writers and readers of one array: every element is seen, absent ones fail when it closes") {
  for (const PoolOptions& options : schedulers) write_and_read(options);
}

}  // namespace
}  // namespace raddle::vm
