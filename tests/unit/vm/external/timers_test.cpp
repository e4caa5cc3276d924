#include "vm/external/timers.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <future>
#include <vector>

using raddle::vm::TimerQueue;
using raddle::vm::Timers;

namespace {

TimerQueue::Clock::time_point at(int seconds) { return TimerQueue::Clock::time_point(std::chrono::seconds(seconds)); }

}  // namespace

TEST_CASE("what is due comes in the order of the times, and nothing before its time") {
  std::vector<int> order;
  TimerQueue queue;
  for (const int due : {20, 10, 30, 10}) queue.add(at(due), [&order, due] { order.push_back(due); });
  CHECK(queue.next().first == at(10));
  CHECK(!queue.take_due(at(9)));
  while (const auto done = queue.take_due(at(20))) done();
  CHECK(order == std::vector{10, 10, 20});
  CHECK(queue.next().first == at(30));
  queue.remove(queue.add(at(5), [&order] { order.push_back(5); }));
  queue.take_due(at(31))();
  CHECK(order.back() == 30);
  CHECK(queue.is_empty());
  CHECK(!queue.take_due(at(100)));
}

TEST_CASE("a timer comes due after its time, on a thread of its own") {
  using Clock = std::chrono::steady_clock;
  std::promise<Clock::duration> after;
  Timers timers;
  const auto begin = Clock::now();
  REQUIRE(timers.after(0.005, [&] { after.set_value(Clock::now() - begin); }));
  CHECK(after.get_future().get() >= std::chrono::milliseconds(5));
}

TEST_CASE("a timer may start another one, and those that are not due are dropped at the end") {
  std::promise<void> second;
  bool called = false;
  {
    Timers timers;
    REQUIRE(timers.after(1e300, [&] { called = true; }));
    REQUIRE(timers.after(-1, [&] { CHECK(timers.after(0, [&] { second.set_value(); })); }));
    second.get_future().wait();
  }
  CHECK(!called);
}
