#include "compiler/sweep/sweep.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

using namespace raddle::sweep;

namespace {

/// Ends each point on a thread of its own.
class ThreadRunner final : public PointRunner {
 public:
  void begin_run(raddle::vm::Recorder&) override {}
  void run(const Point&, std::uint32_t, std::function<void(Attempt)> done) override {
    threads_.emplace_back([done = std::move(done)] {
      std::this_thread::yield();
      done({});
    });
  }
  void end_all() override { threads_.clear(); }

 private:
  std::vector<std::jthread> threads_;
};

}  // namespace

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
               .keep = [&](const Point&, const Attempt&, std::uint32_t, bool) { return ++kept != 0; },
               .keep_batch = {},
               .tick = {}});
  CHECK(sweep.run() == SweepStop::broken);
  CHECK(sweep.error() == "no longer there");
  CHECK(sweep.counts().running == 0);
  CHECK(sweep.counts().ok == kept);
}
