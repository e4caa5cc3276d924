#include "vm/schedule/queue_tree.hpp"

#include <doctest/doctest.h>

#include <array>

#include "tests/unit/vm/schedule/nothing.hpp"

namespace raddle::vm {
namespace {

const std::vector<unsigned> two_domains = {0, 0, 1, 1};

Task* take(QueueTree<>& tree, unsigned worker) {
  bool has_moved = false;
  return tree.take(worker, has_moved);
}
Task* take_elsewhere(QueueTree<>& tree, unsigned worker) {
  bool has_moved = false;
  return tree.take_elsewhere(worker, 0, has_moved);
}

TEST_CASE("the task made ready last is next, whatever the order") {
  for (const QueueOrder order : {QueueOrder::fifo, QueueOrder::lifo}) {
    QueueTree<> tree(two_domains, order);
    std::array<Nothing, 3> tasks;
    for (Nothing& task : tasks) tree.push(0, task);
    CHECK(take(tree, 0) == &tasks[2]);
  }
}

TEST_CASE("a task that is not wanted stays where it lies: the successor, and the next one of either order") {
  for (const QueueOrder order : {QueueOrder::fifo, QueueOrder::lifo}) {
    QueueTree<> tree(two_domains, order);
    std::array<Nothing, 200> tasks;
    for (Nothing& task : tasks) tree.push(0, task);
    bool has_moved = false;
    const auto take_only = [&](const Task* wanted) {
      return tree.take(0, has_moved, [=](const Task* task) { return task == wanted; });
    };
    CHECK(take_only(&tasks[198]) == nullptr);
    CHECK(take_only(&tasks[199]) == &tasks[199]);
    Task* const next = take(tree, 0);
    REQUIRE(next);
    tree.push(0, *next);
    CHECK(take_only(next) == next);
    CHECK(take_only(next) == nullptr);
    CHECK(take(tree, 0) != nullptr);
  }
}

TEST_CASE("with the threshold at 0 all but the successor are at the root, for any worker to take") {
  QueueTree<> tree(two_domains, QueueOrder::fifo);
  std::array<Nothing, 2> tasks;
  for (Nothing& task : tasks) tree.push(0, task);
  CHECK(take_elsewhere(tree, 3) == &tasks[0]);
  CHECK(take_elsewhere(tree, 3) == &tasks[1]);  // nothing is at the root any more: even the successor
  CHECK(take_elsewhere(tree, 3) == nullptr);
  CHECK(tree.is_empty());
}

TEST_CASE("the threshold doubles when the root overflows and halves when a leaf asks there") {
  QueueTree<> tree(two_domains, QueueOrder::lifo);
  std::array<Nothing, 100> tasks;
  CHECK(tree.threshold() == 0);
  for (Nothing& task : tasks) tree.push(0, task);
  const std::int64_t highest = tree.threshold();
  CHECK(highest >= 8);
  CHECK(highest <= 64);
  CHECK(take_elsewhere(tree, 1));  // from the node: it shares it with the pusher
  CHECK(tree.threshold() == highest);
  CHECK(take_elsewhere(tree, 3));  // from the root: its own node is empty
  CHECK(tree.threshold() == highest / 2);
}

TEST_CASE("a leaf gives up its surplus when the threshold has fallen") {
  QueueTree<> tree(two_domains, QueueOrder::lifo);
  std::array<Nothing, 100> tasks;
  for (Nothing& task : tasks) tree.push(0, task);
  while (tree.threshold() > 0)
    if (!take_elsewhere(tree, 3)) break;
  take(tree, 0);  // the successor
  bool has_moved = false;
  tree.take(0, has_moved);
  CHECK(has_moved);
  CHECK_FALSE(tree.has_own(0));
}

TEST_CASE("queues give their tasks in the order that was asked for") {
  for (const QueueOrder order : {QueueOrder::fifo, QueueOrder::lifo}) {
    QueueTree<> tree(two_domains, order);
    std::array<Nothing, 200> tasks;
    for (Nothing& task : tasks) tree.push(0, task);
    take(tree, 0);
    Task* const first = take(tree, 0);
    Task* const second = take(tree, 0);
    REQUIRE(first);
    REQUIRE(second);
    CHECK((first < second) == (order == QueueOrder::fifo));
  }
}

TEST_CASE("a worker that looks for work gets a task straight into its slot") {
  QueueTree<> tree(two_domains, QueueOrder::lifo);
  Nothing task, other;
  tree.start_looking(1);
  CHECK_FALSE(tree.push(0, task));  // no sleeper needs to be told
  CHECK(tree.push(0, other));
  CHECK(take_elsewhere(tree, 1) == &task);
  CHECK(tree.stop_looking(1) == nullptr);
  CHECK(take(tree, 0) == &other);
}

TEST_CASE("of the tasks that one task makes only the first goes to a slot") {
  QueueTree<> tree(two_domains, QueueOrder::lifo);
  Nothing first, second, third;
  tree.start_looking(1);
  tree.start_looking(2);
  CHECK_FALSE(tree.push(0, first));
  CHECK(tree.push(0, second));
  CHECK(take(tree, 0) == &second);
  CHECK_FALSE(tree.push(0, third));
}

TEST_CASE("a task that came into the slot is not lost when its worker stops looking") {
  QueueTree<> tree(two_domains, QueueOrder::lifo);
  Nothing task, other;
  tree.start_looking(2);
  tree.push(0, task);
  CHECK(tree.stop_looking(2) == &task);
  CHECK(tree.push(0, other));
}

TEST_CASE("a worker that leaves hands over everything it had") {
  QueueTree<> tree(two_domains, QueueOrder::fifo);
  std::array<Nothing, 50> tasks;
  for (Nothing& task : tasks) tree.push(1, task);
  std::size_t count = tree.drain(1).count;
  CHECK_FALSE(tree.has_own(1));
  while (take_elsewhere(tree, 0) || take(tree, 0)) ++count;
  CHECK(count == tasks.size());
}

}  // namespace
}  // namespace raddle::vm
