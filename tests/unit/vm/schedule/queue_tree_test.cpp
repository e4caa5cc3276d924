#include "vm/schedule/queue_tree.hpp"

#include <doctest/doctest.h>

#include <array>

namespace raddle::vm {
namespace {

struct Nothing final : Task {
  void run(Worker&) override {}
};

const std::vector<unsigned> two_domains = {0, 0, 1, 1};

TEST_CASE("the task made ready last is next, whatever the order") {
  for (const QueueOrder order : {QueueOrder::fifo, QueueOrder::lifo}) {
    QueueTree<> tree(two_domains, order);
    std::array<Nothing, 3> tasks;
    for (Nothing& task : tasks) tree.push(0, task);
    CHECK(tree.take(0) == &tasks[2]);
  }
}

TEST_CASE("with the threshold at 0 all but the successor are at the root, for any worker to take") {
  QueueTree<> tree(two_domains, QueueOrder::fifo);
  std::array<Nothing, 2> tasks;
  for (Nothing& task : tasks) tree.push(0, task);
  CHECK(tree.take_elsewhere(3, 0) == &tasks[0]);
  CHECK(tree.take_elsewhere(3, 0) == &tasks[1]);  // nothing is at the root any more: even the successor
  CHECK(tree.take_elsewhere(3, 0) == nullptr);
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
  CHECK(tree.take_elsewhere(1, 0));  // from the node: it shares it with the pusher
  CHECK(tree.threshold() == highest);
  CHECK(tree.take_elsewhere(3, 0));  // from the root: its own node is empty
  CHECK(tree.threshold() == highest / 2);
}

TEST_CASE("a leaf gives up its surplus when the threshold has fallen") {
  QueueTree<> tree(two_domains, QueueOrder::lifo);
  std::array<Nothing, 100> tasks;
  for (Nothing& task : tasks) tree.push(0, task);
  while (tree.threshold() > 0)
    if (!tree.take_elsewhere(3, 0)) break;
  tree.take(0);  // the successor
  tree.take(0);
  CHECK(tree.take_moved(0));
  CHECK_FALSE(tree.has_own(0));
}

TEST_CASE("queues give their tasks in the order that was asked for") {
  for (const QueueOrder order : {QueueOrder::fifo, QueueOrder::lifo}) {
    QueueTree<> tree(two_domains, order);
    std::array<Nothing, 200> tasks;
    for (Nothing& task : tasks) tree.push(0, task);
    tree.take(0);
    Task* const first = tree.take(0);
    Task* const second = tree.take(0);
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
  CHECK(tree.take_elsewhere(1, 0) == &task);
  CHECK(tree.stop_looking(1) == nullptr);
  CHECK(tree.take(0) == &other);
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
  while (tree.take_elsewhere(0, 0) || tree.take(0)) ++count;
  CHECK(count == tasks.size());
}

}  // namespace
}  // namespace raddle::vm
