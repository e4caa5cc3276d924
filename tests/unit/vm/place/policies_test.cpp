#include <doctest/doctest.h>

#include <memory>

#include "vm/place/policy.hpp"

namespace raddle::vm {
namespace {

constexpr Links stage_links{.to_device = 1'000'000'000, .to_host = 1'000'000'000};

PlacedTask task_of(std::vector<DataId> reads, std::int32_t priority, std::uint32_t arrival) {
  const auto count = static_cast<std::uint32_t>(reads.size());
  return {
      .operands = std::move(reads), .read_count = count, .duration_ns = 50, .priority = priority, .arrival = arrival};
}

/// Tasks, copies, and a policy that has heard of no task yet.
struct Stage {
  Stage(PlacedTasks given, unsigned devices, const char* name)
      : tasks(std::move(given)),
        copies({100, 100, 100, 300}, devices, 1000, stage_links),
        policy(make_policy(name, {.tasks = tasks, .residency = copies})) {
    copies.set_policy(*policy);
    for (TaskId id = 0; id < tasks.size(); ++id) {
      tasks[id].order = id;
      for (const DataId data : tasks[id].operands) policy->expected(data, id);
    }
  }
  void release(std::optional<DeviceId> by = std::nullopt) {
    std::vector<TaskId> all;
    for (TaskId id = 0; id < tasks.size(); ++id) all.push_back(id);
    policy->released(all, by, 0);
  }
  void load(DeviceId device, DataId data) {
    copies.begin_load(device, data, *copies.source(data, device));
    copies.end_load(device, data, *copies.source(data, device));
  }
  std::vector<TaskId> all_of(DeviceId device) {
    std::vector<TaskId> found;
    while (const std::optional<TaskId> id = policy->next(device)) found.push_back(*id);
    return found;
  }
  PlacedTasks tasks;
  Residency copies;
  std::unique_ptr<Policy> policy;
};

using Tasks = std::vector<TaskId>;

}  // namespace

TEST_CASE("each policy has a name, and no other name has one") {
  const PlacedTasks tasks;
  const Residency copies({}, 1, 1, stage_links);
  for (const PolicyName& name : policy_names()) CHECK(make_policy(name.name, {.tasks = tasks, .residency = copies}));
  CHECK_FALSE(make_policy("best", {.tasks = tasks, .residency = copies}));
}

TEST_CASE("eager gives whoever asks the task that was released first") {
  Stage stage({task_of({0}, 0, 0), task_of({1}, 9, 1), task_of({2}, 0, 2)}, 2, "eager");
  stage.release();
  CHECK(stage.policy->next(1) == TaskId{0});
  CHECK(stage.all_of(0) == Tasks{1, 2});
}

TEST_CASE("lws keeps tasks where they were released, and steals the last one") {
  Stage stage({task_of({0}, 1, 0), task_of({1}, 5, 1), task_of({2}, 1, 2)}, 3, "lws");
  stage.release(DeviceId{1});
  CHECK(stage.policy->next(0) == TaskId{2});
  CHECK(stage.all_of(1) == Tasks{1, 0});
}

TEST_CASE("lws deals the first tasks out") {
  Stage stage({task_of({0}, 0, 0), task_of({1}, 0, 1), task_of({2}, 0, 2)}, 2, "lws");
  stage.release();
  CHECK(stage.policy->next(0) == TaskId{0});
  CHECK(stage.policy->next(1) == TaskId{1});
  CHECK(stage.policy->next(0) == TaskId{2});
}

TEST_CASE("dmdar sends a task where its data are, and takes the one that misses least first") {
  Stage stage({task_of({3}, 9, 0), task_of({0, 1}, 0, 1), task_of({0}, 0, 2)}, 2, "dmdar");
  stage.load(1, 0);
  stage.load(1, 1);
  stage.release();
  CHECK(stage.all_of(0) == Tasks{0});
  CHECK(stage.all_of(1) == Tasks{1, 2});
}

TEST_CASE("the three of one queue differ in what priorities do") {
  const PlacedTasks tasks{task_of({0}, 0, 0), task_of({3}, 9, 1), task_of({1}, 5, 2), task_of({2}, 5, 3)};
  const auto order = [&](const char* name) {
    Stage stage(tasks, 1, name);
    stage.load(0, 2);
    stage.release();
    return stage.all_of(0);
  };
  CHECK(order("dmdar") == Tasks{3, 0, 2, 1});
  CHECK(order("dmdas") == Tasks{1, 3, 2, 0});
  CHECK(order("dmdas-paper") == Tasks{3, 2, 0, 1});
}

TEST_CASE("a prefetch takes nothing of the buffer's tasks away, a demand nothing of the first one's") {
  Stage stage({task_of({0}, 0, 0), task_of({1}, 0, 1)}, 1, "eager");
  for (const DataId data : {0u, 1u, 2u}) stage.load(0, data);
  for (const TaskId id : {0u, 1u}) stage.copies.request(0, id, stage.tasks[id]);
  CHECK(stage.policy->victim(0, LoadKind::prefetch) == DataId{2});
  CHECK(stage.policy->victim(0, LoadKind::demand) == DataId{1});
  stage.copies.drop(0, 2);
  CHECK_FALSE(stage.policy->victim(0, LoadKind::prefetch));
}

TEST_CASE("darts loads what frees most tasks, and plans them together") {
  // datum 0 frees two tasks, datum 1 one that is more urgent
  const PlacedTasks tasks{task_of({1}, 9, 0), task_of({0}, 0, 1), task_of({0, 1}, 0, 2), task_of({0}, 0, 3)};
  for (const char* name : {"darts", "darts-count"}) {
    Stage stage(tasks, 2, name);
    stage.release();
    CHECK(stage.policy->next(0) == TaskId{1});
    stage.copies.request(0, 1, stage.tasks[1]);
    CHECK(stage.policy->next(1) == TaskId{0});
    CHECK(stage.policy->next(0) == TaskId{3});
    CHECK(stage.policy->next(0) == TaskId{2});
    CHECK_FALSE(stage.policy->next(0));
  }
}

TEST_CASE("the ratio of darts is that of a transfer and the work that it allows") {
  PlacedTasks tasks{task_of({0}, 0, 0), task_of({0}, 0, 1), task_of({1}, 0, 2)};
  tasks[2].duration_ns = 1000;
  Stage by_ratio(tasks, 1, "darts"), by_count(tasks, 1, "darts-count");
  by_ratio.release();
  by_count.release();
  CHECK(by_ratio.policy->next(0) == TaskId{2});
  CHECK(by_count.policy->next(0) == TaskId{0});
}

TEST_CASE("darts gives a released task to a device that has its data or plans to, before what waits for a load") {
  Stage stage({task_of({0}, 0, 0), task_of({0}, 0, 1), task_of({1}, 0, 2)}, 2, "darts");
  stage.load(1, 1);
  stage.policy->released(Tasks{0, 1}, std::nullopt, 0);
  CHECK(stage.policy->next(1) == TaskId{0});  // task 1 is planned, and misses datum 0, which nobody has requested
  stage.policy->released(Tasks{2}, std::nullopt, 0);
  CHECK_FALSE(stage.policy->next(0));
  CHECK(stage.all_of(1) == Tasks{2, 1});
}

TEST_CASE("darts evicts what its plan uses least, never the buffer's if it can wait") {
  Stage stage({task_of({0}, 0, 0), task_of({0}, 0, 1), task_of({1}, 0, 2), task_of({2}, 0, 3)}, 1, "darts");
  for (const DataId data : {0u, 1u, 2u}) stage.load(0, data);
  stage.policy->released(Tasks{0, 1, 2, 3}, std::nullopt, 0);
  CHECK(stage.policy->victim(0, LoadKind::prefetch) == DataId{1});
  for (TaskId id = 0; id < 4; ++id) stage.copies.request(0, *stage.policy->next(0), stage.tasks[id]);
  CHECK_FALSE(stage.policy->victim(0, LoadKind::prefetch));
  CHECK(stage.policy->victim(0, LoadKind::demand) == DataId{2});
}

TEST_CASE("darts that looks ahead evicts what no task will touch before what is used longest ago") {
  const PlacedTasks tasks{task_of({0}, 0, 0), task_of({1}, 0, 1), task_of({3}, 0, 2)};
  const auto victim = [&](const char* name) {
    Stage stage(tasks, 1, name);
    for (const DataId data : {0u, 1u, 2u}) stage.load(0, data);
    stage.policy->released(Tasks{2}, std::nullopt, 0);  // the others wait for it
    return stage.policy->victim(0, LoadKind::prefetch);
  };
  CHECK(victim("darts-count") == DataId{0});
  CHECK(victim("darts-order") == DataId{2});
}

TEST_CASE("darts in the order of the program evicts what is touched last") {
  const PlacedTasks tasks{task_of({1}, 0, 0), task_of({0, 3}, 0, 1), task_of({2}, 0, 2), task_of({1}, 0, 3)};
  Stage stage(tasks, 1, "darts-order");
  for (const DataId data : {0u, 1u, 2u}) stage.load(0, data);
  CHECK(stage.policy->victim(0, LoadKind::prefetch) == DataId{2});
  stage.copies.drop(0, 2);
  CHECK(stage.policy->victim(0, LoadKind::prefetch) == DataId{0});
  stage.policy->unexpected(1, 0);  // its first task will never come: only the last one is left
  CHECK(stage.policy->victim(0, LoadKind::prefetch) == DataId{1});
  stage.policy->unexpected(0, 1);
  CHECK(stage.policy->victim(0, LoadKind::prefetch) == DataId{0});
}

TEST_CASE("darts in the order of the program takes no notice of it when more tasks are ready than copies are there") {
  const PlacedTasks tasks{task_of({2, 3}, 0, 0), task_of({0, 3}, 0, 1), task_of({1, 3}, 0, 2), task_of({1, 3}, 0, 3)};
  Stage stage(tasks, 1, "darts-order");
  for (const DataId data : {0u, 1u, 2u}) stage.load(0, data);
  stage.policy->released(Tasks{0, 1, 2}, std::nullopt, 0);
  CHECK(stage.policy->victim(0, LoadKind::prefetch) == DataId{1});
  stage.policy->released(Tasks{3}, std::nullopt, 0);
  CHECK(stage.policy->victim(0, LoadKind::prefetch) == DataId{0});
}

TEST_CASE("darts in the order of the program finishes a datum on one device before it takes what frees most tasks") {
  const PlacedTasks tasks{task_of({0, 1}, 0, 0), task_of({0, 1}, 0, 1), task_of({3, 2}, 0, 2)};
  for (const unsigned devices : {1u, 2u}) {
    Stage stage(tasks, devices, "darts-order");
    for (const DataId data : {0u, 3u}) stage.load(0, data);
    stage.release();
    CHECK(stage.policy->next(0) == TaskId{devices == 1 ? 2u : 0u});
  }
}

TEST_CASE("data and tasks may come as the run goes, and data take the place of others") {
  for (const PolicyName& name : policy_names()) {
    CAPTURE(name.name);
    Stage stage({task_of({0}, 0, 0)}, 1, name.name.data());
    stage.release();
    CHECK(stage.all_of(0) == Tasks{0});
    const DataId added = stage.copies.add(200);
    CHECK(added == 4);
    stage.tasks.push_back(task_of({added, 0}, 0, 1));
    stage.tasks[1].order = 1;
    for (const DataId data : stage.tasks[1].operands) stage.policy->expected(data, 1);
    stage.policy->released(Tasks{1}, std::nullopt, 0);
    CHECK(stage.all_of(0) == Tasks{1});
    stage.load(0, added);
    CHECK(stage.copies.used_bytes(0) == 200);
    stage.copies.replace(added, 50);
    CHECK(stage.copies.used_bytes(0) == 0);
    CHECK(stage.copies.bytes(added) == 50);
    CHECK_FALSE(stage.copies.is_near(0, added));
  }
}

TEST_CASE("tasks of the plan that lose a datum are ready again") {
  Stage stage({task_of({0}, 0, 0), task_of({1}, 0, 1)}, 2, "darts");
  stage.load(0, 0);
  stage.load(0, 1);
  stage.policy->released(Tasks{0, 1}, std::nullopt, 0);
  CHECK_FALSE(stage.policy->next(1));
  stage.copies.drop(0, 0);
  CHECK(stage.policy->next(1) == TaskId{0});
  CHECK(stage.all_of(0) == Tasks{1});
}

}  // namespace raddle::vm
