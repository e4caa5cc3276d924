#include "vm/external/program_queue.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

using raddle::vm::ProcessBudget;
using raddle::vm::ProgramQueue;

namespace {

struct Needs {
  std::int64_t priority = 0, cores = 1;
  double memory_bytes = 0;
};

void add(ProgramQueue& queue, const std::string& name, const Needs& needs = {}) {
  raddle::vm::ProcessRequest request;
  request.words = {name};
  request.priority = needs.priority;
  request.cores = needs.cores;
  request.memory_bytes = needs.memory_bytes;
  queue.add({.request = std::move(request), .done = {}});
}

std::string take_name(ProgramQueue& queue) { return queue.take().program.request.words[0]; }

}  // namespace

TEST_CASE("higher priorities start first, equal ones in order, while there is room") {
  ProgramQueue queue({.programs = 3});
  add(queue, "a");
  add(queue, "b", {.priority = 1});
  add(queue, "c");
  add(queue, "d", {.priority = 1});
  std::vector<std::string> names;
  while (queue.can_start()) names.push_back(take_name(queue));
  CHECK(names == std::vector<std::string>{"b", "d", "a"});
  CHECK(queue.size() == 1);
}

TEST_CASE("a slot is the lowest that is free") {
  ProgramQueue queue({.programs = 3});
  for (const char* name : {"a", "b", "c", "d", "e"}) add(queue, name);
  const auto first = queue.take(), second = queue.take(), third = queue.take();
  CHECK((first.place.slot == 1 && second.place.slot == 2 && third.place.slot == 3));
  queue.release(third.place);
  queue.release(first.place);
  CHECK(queue.take().place.slot == 1);
  CHECK(queue.take().place.slot == 3);
}

TEST_CASE("what does not fit waits, is not overtaken, and runs alone if it is larger than all") {
  ProgramQueue queue({.programs = 9, .cores = 4, .memory_bytes = 100});
  add(queue, "a", {.cores = 3});
  add(queue, "b", {.cores = 2});
  add(queue, "c");
  const auto first = queue.take();
  CHECK(!queue.can_start());
  queue.release(first.place);
  const auto second = queue.take();
  const auto third = queue.take();
  CHECK((second.program.request.words[0] == "b" && third.program.request.words[0] == "c"));
  add(queue, "d", {.memory_bytes = 1000});
  CHECK(!queue.can_start());
  queue.release(second.place);
  CHECK(!queue.can_start());
  queue.release(third.place);
  CHECK(queue.can_start());
  CHECK(take_name(queue) == "d");
}

TEST_CASE("after a shortage the same is the next, once one has ended or if nothing runs") {
  ProgramQueue queue({.programs = 3});
  for (const char* name : {"a", "b", "c"}) add(queue, name);
  const auto first = queue.take();
  auto second = queue.take();
  queue.release(second.place);
  queue.put_back(std::move(second.program));
  CHECK(!queue.can_start());
  queue.end_shortage();
  second = queue.take();
  CHECK((second.program.request.words[0] == "b" && !second.place.is_alone));
  queue.release(second.place);
  queue.put_back(std::move(second.program));
  queue.release(first.place);
  second = queue.take();
  CHECK((second.program.request.words[0] == "b" && second.place.is_alone));
  CHECK(!queue.can_start());
  queue.clear();
  CHECK(queue.size() == 0);
}
