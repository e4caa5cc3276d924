#include "vm/schedule/throttle.hpp"

#include <doctest/doctest.h>

namespace raddle::vm {

namespace {

class NotedTask final : public Task {
 public:
  void run(Worker&) override { ran = true; }
  bool ran = false;
};

}  // namespace

TEST_CASE("a loop is parked while too much is under way, and goes on when enough has ended") {
  WorkerPool pool(1);
  Throttle throttle(pool, 4);
  NotedTask loop;
  for (int i = 0; i < 4; ++i) throttle.begin();
  CHECK(!throttle.park(loop));
  throttle.begin();
  CHECK(throttle.park(loop));
  throttle.end(2);
  pool.run();
  CHECK(!loop.ran);
  throttle.end(1);
  pool.run();
  CHECK(loop.ran);
}

}  // namespace raddle::vm
