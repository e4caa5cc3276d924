#include "compiler/tool/sweep/sweep.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

using namespace raddle::sweep;

namespace {

/// Ends each point on a thread of its own.
class ThreadRunner final : public PointRunner {
 public:
  void begin_run(raddle::vm::Recorder&) override {}
  void run(const Point&, std::uint32_t, std::function<void(Attempt)> done) override {
    const std::lock_guard lock(mutex_);  // whoever ends a point begins the next one
    threads_.emplace_back([done = std::move(done)] {
      std::this_thread::yield();
      done({});
    });
  }
  void end_all() override {
    std::vector<std::jthread> ending;
    const std::lock_guard lock(mutex_);
    ending.swap(threads_);
  }

 private:
  std::mutex mutex_;  // guards what follows
  std::vector<std::jthread> threads_;
};

std::expected<Sweep::Claimed, std::string> claimed() {
  return Sweep::Claimed{.claim = std::make_shared<int>(), .are_done = {}};
}

}  // namespace

TEST_CASE("what another run is running is waited for, and run only if that has not done it") {
  const auto space = Space::make({.parameters = {"a=1:100"}});
  REQUIRE(space);
  const CursorOptions options;
  Cursor cursor(*space, options);
  ThreadRunner runner;
  SweepOptions run;
  run.jobs = 4;
  std::mutex mutex;  // guards the next two
  std::map<std::uint64_t, unsigned> asked;
  std::set<std::uint64_t> kept;
  std::atomic<std::uint64_t> most_waiting = 0;
  Sweep sweep(
      cursor, runner, run,
      {.are_done = {},
       .claim =
           [&](std::span<const std::uint64_t> numbers, bool) {
             const std::lock_guard lock(mutex);
             auto result = claimed();
             if (numbers.front() <= 8 && ++asked[numbers.front()] < 3) result->claim = nullptr;
             if (numbers.front() <= 4) result->are_done = {true};  // by the time that it lets go
             return result;
           },
       .keep =
           [&](const Point& point, const Attempt&, std::uint32_t, bool, const raddle::vm::PointClaim& claim) {
             const std::lock_guard lock(mutex);
             return claim && kept.insert(point.number).second;
           },
       .keep_block = {},
       .tick = [&](const SweepCounts& counts) { most_waiting = std::max(most_waiting.load(), counts.waiting); }});
  CHECK(sweep.run() == SweepStop::none);
  CHECK(sweep.counts().ok == 96);
  CHECK(sweep.counts().taken == 4);
  CHECK(sweep.counts().waiting == 0);
  CHECK(sweep.counts().running == 0);
  CHECK(most_waiting > 0);
  CHECK(kept.size() == 96);
  CHECK(*kept.begin() == 5);
}

TEST_CASE("a record that can not be read ends the sweep when what runs has ended") {
  const auto space = Space::make({.parameters = {"a=1:1000"}});
  REQUIRE(space);
  const CursorOptions options;
  Cursor cursor(*space, options);
  ThreadRunner runner;
  std::atomic<unsigned> kept = 0;
  unsigned asked = 0;
  SweepOptions run;
  run.jobs = 4;
  Sweep sweep(cursor, runner, run,
              {.are_done = [&](std::span<const std::uint64_t> numbers) -> Sweep::Done {
                 if (++asked == 3) return std::unexpected("no longer there");
                 return std::vector<bool>(numbers.size());
               },
               .claim = [](std::span<const std::uint64_t>, bool) { return claimed(); },
               .keep = [&](const Point&, const Attempt&, std::uint32_t, bool,
                           const raddle::vm::PointClaim&) { return ++kept != 0; },
               .keep_block = {},
               .tick = {}});
  CHECK(sweep.run() == SweepStop::broken);
  CHECK(sweep.error() == "no longer there");
  CHECK(sweep.counts().running == 0);
  CHECK(sweep.counts().ok == kept);
}
