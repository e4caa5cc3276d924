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

TEST_CASE("what begins something large goes before what is below 0, in the order that it is given") {
  PriorityTasks tasks;
  std::array<Nothing, 6> all;
  tasks.push(all[0], -1);
  tasks.push_last(all[1], 20);
  tasks.push_last(all[2], 10);
  tasks.push_last(all[3], 20);
  CHECK((!tasks.is_empty() && !tasks.has_urgent() && tasks.take_urgent() == nullptr));
  tasks.push(all[4], 1);
  tasks.push_last(all[5], -5);
  for (const std::size_t next : {4, 5, 2, 1, 3, 0}) CHECK(tasks.take_any() == &all[next]);
  CHECK((tasks.is_empty() && tasks.take_any() == nullptr));
}

}  // namespace
}  // namespace raddle::vm
