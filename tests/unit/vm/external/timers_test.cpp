#include "vm/external/timers.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <future>
#include <vector>

using raddle::vm::Timers;

TEST_CASE("timers come due in the order of their times") {
  std::vector<int> order;  // by the timers' thread, then read after `all`
  std::promise<void> all;
  Timers timers;
  timers.after(0.2, [&] {
    order.push_back(2);
    all.set_value();
  });
  timers.after(0.05, [&] { order.push_back(1); });
  timers.after(-1, [&] { order.push_back(0); });
  const auto begin = std::chrono::steady_clock::now();
  all.get_future().wait();
  CHECK(std::chrono::steady_clock::now() - begin > std::chrono::milliseconds(100));
  CHECK(order == std::vector{0, 1, 2});
}

TEST_CASE("a timer may start another one, and those that are not due are dropped at the end") {
  std::promise<void> second;
  Timers timers;
  timers.after(1e300, [] { FAIL("not due in our time"); });
  timers.after(0, [&] { timers.after(0, [&] { second.set_value(); }); });
  second.get_future().wait();
}
