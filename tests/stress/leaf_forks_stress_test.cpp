// Forked calls under load. Compiled leaves are out of the sanitizers' sight, so this one is written by hand: it does
// what compiled code does, word for word as vm/program/leaf_abi.hpp says.
#include "vm/schedule/leaf_forks.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/stress/schedulers.hpp"

namespace raddle::vm {
namespace {

struct Record {
  raddle_leaf_fork fork;
  std::int64_t words[2];
};

std::int32_t fib(raddle_leaf_worker* worker, const std::int64_t* arguments, std::int64_t* results,
                 raddle_leaf_failure* failure);
constexpr raddle_leaf_fork_site fib_site = {fib, 1};

void fork(raddle_leaf_worker* worker, Record& record) {
  worker->newest->newer = &record.fork;
  worker->newest = &record.fork;
  if (reinterpret_cast<const std::atomic<std::int32_t>*>(worker->idle_workers)->load(std::memory_order_relaxed) != 0)
    worker->share(worker);
}

constexpr std::int64_t failing_number = 3;  ///< if `fails`, its call does
std::atomic<bool> fails{false};

std::int32_t fib(raddle_leaf_worker* worker, const std::int64_t* arguments, std::int64_t* results,
                 raddle_leaf_failure* failure) {
  const std::int64_t n = arguments[0];
  if (fails.load(std::memory_order_relaxed) && n == failing_number) {
    failure->place = {7, static_cast<std::uint32_t>(n), 9};
    return raddle_leaf_division_by_zero;
  }
  if (n < 2) {
    results[0] = n;
    return raddle_leaf_ok;
  }
  Record record{{worker->newest, nullptr, &fib_site, nullptr}, {n - 2, 0}};
  fork(worker, record);
  const std::int64_t less = n - 1;
  std::int64_t first = 0;
  std::int32_t status = fib(worker, &less, &first, failure);
  if (status != raddle_leaf_ok) {
    worker->join(worker, &record.fork, nullptr);
    return status;
  }
  if (record.fork.task) {
    status = worker->join(worker, &record.fork, failure);
  } else {
    worker->newest = record.fork.older;
    status = fib(worker, record.words, record.words + 1, failure);
  }
  results[0] = first + record.words[1];
  return status;
}

struct Call final : Task {
  raddle_leaf_function code = fib;
  std::int64_t n = 0, result = 0;
  std::int32_t status = -1;
  raddle_leaf_failure failure{};
  void run(Worker& worker) override { status = code(&worker.leaf_worker(), &n, &result, &failure); }
};

struct Setting {
  unsigned workers;
  PoolOptions options;
};

template <typename Check>
void with_all_settings(const Check& check) {
  for (const unsigned workers : {1u, 2u, 8u})
    for (const Inlining inlining : {Inlining::adaptive, Inlining::never})
      for (const Scheduler scheduler : {Scheduler::stealing, Scheduler::tree})
        for (std::uint64_t seed = 0; seed < 10; ++seed)
          check(Setting{workers, {.scheduler = scheduler, .scheduler_seed = seed, .inlining = inlining}});
}

TEST_CASE("forked calls give the same results whoever runs them") {
  with_all_settings([](const Setting& setting) {
    fails = false;
    WorkerPool pool(setting.workers, setting.options);
    Call calls[3];
    for (Call& call : calls) {
      call.n = 13;
      pool.inject(call);
    }
    pool.run();
    for (const Call& call : calls) {
      CHECK(call.status == raddle_leaf_ok);
      CHECK(call.result == 233);
    }
    if (setting.options.inlining == Inlining::never) CHECK(pool.leaf_calls_shared() == 3 * 376);
    if (setting.workers == 1 && setting.options.scheduler_seed == 0 && setting.options.inlining == Inlining::adaptive)
      CHECK(pool.leaf_calls_shared() == 0);
  });
}

TEST_CASE("a call that fails waits for those that were forked, and tells where") {
  with_all_settings([](const Setting& setting) {
    fails = true;
    WorkerPool pool(setting.workers, setting.options);
    Call call;
    call.n = 10;
    pool.inject(call);
    pool.run();
    CHECK(call.status == raddle_leaf_division_by_zero);
    CHECK(call.failure.place.file == 7);
    CHECK(call.failure.place.begin == failing_number);
  });
}

/// Calls that wait for each other.
struct Meeting {
  std::int64_t expected = 0;
  std::atomic<std::int64_t> begun{0};
  std::chrono::steady_clock::time_point end{};  ///< nobody waits longer, so that a test fails rather than hangs
  bool wait_until(const auto& is_so) const {
    while (!is_so() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    return is_so();
  }
};
Meeting* meeting = nullptr;

/// Forks the next one as soon as somebody is idle, then waits until the last one has begun: so each needs a worker of
/// its own. @return how many have seen the last one begin
std::int32_t attend(raddle_leaf_worker* worker, const std::int64_t* arguments, std::int64_t* results,
                    raddle_leaf_failure* failure);
constexpr raddle_leaf_fork_site attend_site = {attend, 1};

std::int32_t attend(raddle_leaf_worker* worker, const std::int64_t* arguments, std::int64_t* results,
                    raddle_leaf_failure* failure) {
  const std::int64_t others = arguments[0];
  ++meeting->begun;
  const auto all_have_begun = [] { return meeting->begun == meeting->expected; };
  if (others == 0) {
    results[0] = all_have_begun();
    return raddle_leaf_ok;
  }
  const std::atomic_ref<const std::int32_t> idle(*worker->idle_workers);
  meeting->wait_until([&] { return idle.load(std::memory_order_relaxed) != 0; });
  Record record{{worker->newest, nullptr, &attend_site, nullptr}, {others - 1, 0}};
  fork(worker, record);
  results[0] = meeting->wait_until(all_have_begun);
  if (record.fork.task) {
    worker->join(worker, &record.fork, failure);
  } else {
    worker->newest = record.fork.older;
    attend(worker, record.words, record.words + 1, failure);
  }
  results[0] += record.words[1];
  return raddle_leaf_ok;
}

TEST_CASE("while a worker is idle, forked calls are shared: calls that wait for each other come together") {
  for (const PoolOptions& options : schedulers) {
    for (const unsigned workers : {2u, 8u}) {
      for (int round = 0; round < 10; ++round) {
        Meeting here{.expected = workers, .end = std::chrono::steady_clock::now() + std::chrono::seconds(30)};
        meeting = &here;
        WorkerPool pool(workers, options);
        Call call;
        call.code = attend;
        call.n = workers - 1;
        pool.inject(call);
        pool.run();
        REQUIRE(call.result == workers);
        CHECK(pool.leaf_calls_shared() == workers - 1);
      }
    }
  }
}

}  // namespace
}  // namespace raddle::vm
