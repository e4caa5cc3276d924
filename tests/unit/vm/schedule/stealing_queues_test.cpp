#include "vm/schedule/stealing_queues.hpp"

#include <doctest/doctest.h>

#include <array>

#include "tests/unit/vm/schedule/nothing.hpp"

namespace raddle::vm {
namespace {

TEST_CASE("the owner takes the youngest task, a thief the oldest") {
  StealingQueues<> queues(2);
  std::array<Nothing, 3> tasks;
  for (Nothing& task : tasks) queues.push(0, task);
  bool has_moved = false;
  CHECK(queues.take(0, has_moved) == &tasks[2]);
  CHECK(queues.take_elsewhere(1, 0, has_moved) == &tasks[0]);
  CHECK_FALSE(has_moved);
}

TEST_CASE("of many tasks a thief takes half of its fair share along") {
  StealingQueues<> queues(4);
  std::array<Nothing, 81> tasks;
  for (Nothing& task : tasks) queues.push(2, task);
  bool has_moved = false;
  CHECK(queues.take_elsewhere(0, 1, has_moved) == &tasks[0]);
  CHECK(has_moved);
  CHECK(queues.drain(0).count == 10);
  CHECK(queues.drain(2).count == 70);
  CHECK(queues.is_empty());
}

}  // namespace
}  // namespace raddle::vm
