#include "vm/interpret/task_trace.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace raddle::vm;

TEST_CASE("tasks are kept one by one while they are few, with what is inside of them") {
  const std::string outer = "outer", inner = "inner";
  TaskTrace trace(2, 100);
  trace.add(0, {.start_ns = 10, .duration_ns = 5, .kind = TaskKind::leaf, .is_nested = true, .name = &inner});
  trace.add(0, {.start_ns = 0, .duration_ns = 20, .name = &outer});
  trace.add(1, {.start_ns = 3, .duration_ns = 4, .kind = TaskKind::program, .name = &inner});
  REQUIRE(trace.tasks().size() == 2);
  CHECK(trace.tasks()[0].size() == 2);
  CHECK(trace.tasks()[1].empty());
  CHECK(trace.programs().size() == 1);
}

TEST_CASE("many tasks are joined with their neighbours in time, and none is lost") {
  const std::string quick = "quick", slow = "slow";
  constexpr std::int64_t tasks = 100'000;
  TaskTrace trace(1, 1000);
  for (std::int64_t i = 0; i < tasks; ++i) {
    const std::int64_t duration_ns = i % 7 == 0 ? 90 : 10;
    trace.add(0,
              {.start_ns = i * 100, .duration_ns = duration_ns, .name = i % 7 == 0 ? &slow : &quick, .iterations = 2});
  }
  const std::vector<TaskTrace::Entry> kept = trace.tasks()[0];
  CHECK(kept.size() <= 1000);
  CHECK(kept.size() > 100);
  std::uint64_t count = 0, iterations = 0;
  std::int64_t busy_ns = 0;
  for (const TaskTrace::Entry& entry : kept) {
    count += entry.count;
    iterations += entry.iterations;
    busy_ns += entry.busy_ns;
  }
  CHECK(count == tasks);
  CHECK(iterations == 2 * tasks);
  CHECK(busy_ns == (tasks + 6) / 7 * 80 + tasks * 10);
  CHECK(kept.front().name == &slow);
  CHECK(std::ranges::adjacent_find(kept, [](const auto& one, const auto& next) {
          return one.start_ns + one.duration_ns > next.start_ns;
        }) == kept.end());
}
