#include "vm/schedule/priority_tasks.hpp"

#include <doctest/doctest.h>

#include <array>

#include "tests/unit/vm/schedule/nothing.hpp"

namespace raddle::vm {
namespace {

TEST_CASE("the highest priority comes first, of equal ones the first") {
  PriorityTasks tasks;
  std::array<Nothing, 5> all;
  CHECK((tasks.is_empty() && tasks.take_any() == nullptr));
  tasks.push(all[0], -7);
  CHECK(!tasks.is_empty());
  CHECK(tasks.take_urgent() == nullptr);
  tasks.push(all[1], 1);
  tasks.push(all[2], 9);
  tasks.push(all[3], 9);
  tasks.push(all[4], -1);
  CHECK(tasks.take_urgent() == &all[2]);
  CHECK(tasks.take_any() == &all[3]);
  CHECK(tasks.take_urgent() == &all[1]);
  CHECK(tasks.take_urgent() == nullptr);
  CHECK(tasks.take_urgent() == nullptr);
  CHECK(tasks.take_any() == &all[4]);
  CHECK(tasks.take_any() == &all[0]);
  CHECK((tasks.is_empty() && tasks.take_any() == nullptr));
}

}  // namespace
}  // namespace raddle::vm
