// The work-stealing deque: with an owner that pushes and takes and several thieves, every task is taken exactly once.
#include "vm/schedule/work_stealing_deque.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "vm/schedule/worker_pool.hpp"

namespace raddle::vm {
namespace {

struct Marked final : Task {
  std::atomic<int> taken{0};
  void run(Worker&) override {}
};

TEST_CASE("the owner takes the youngest, thieves the oldest, also after the ring has grown") {
  WorkStealingDeque deque;
  std::vector<Marked> tasks(1000);
  CHECK(deque.take() == nullptr);
  CHECK(deque.steal() == nullptr);
  for (Marked& task : tasks) deque.push(&task);
  CHECK_FALSE(deque.is_empty());
  for (std::size_t i = 0; i < 300; ++i) {
    CHECK(deque.steal() == &tasks[i]);
    CHECK(deque.take() == &tasks[tasks.size() - 1 - i]);
  }
  for (std::size_t i = 0; i < 400; ++i) CHECK(deque.take() != nullptr);
  CHECK(deque.take() == nullptr);
  CHECK(deque.is_empty());
}

TEST_CASE("tasks that are pushed together lie there as if pushed one by one") {
  for (const std::size_t count : {0u, 1u, 256u, 257u, 5000u}) {
    WorkStealingDeque deque;
    std::vector<Marked> tasks(count);
    Marked earlier;
    deque.push(&earlier);
    TaskBatch batch;
    for (Marked& task : tasks) batch.add(task);
    deque.push(batch);
    CHECK(deque.size() == static_cast<std::int64_t>(count) + 1);
    CHECK(deque.steal() == &earlier);
    if (count > 1) CHECK(deque.steal() == &tasks.front());
    for (std::size_t i = count; i-- > (count > 1 ? 1u : 0u);) CHECK(deque.take() == &tasks[i]);
    CHECK(deque.is_empty());
  }
}

TEST_CASE("a task that is not wanted stays where it lies") {
  WorkStealingDeque deque;
  std::vector<Marked> tasks(3);
  const auto only = [](const Task& wanted) { return [&wanted](const Task* task) { return task == &wanted; }; };
  CHECK(deque.take(only(tasks[0])) == nullptr);
  for (Marked& task : tasks) deque.push(&task);
  CHECK(deque.take(only(tasks[1])) == nullptr);
  CHECK(deque.steal(only(tasks[1])) == nullptr);
  CHECK(deque.size() == 3);
  CHECK(deque.take(only(tasks[2])) == &tasks[2]);
  CHECK(deque.steal(only(tasks[0])) == &tasks[0]);
  CHECK(deque.take(only(tasks[1])) == &tasks[1]);
  CHECK(deque.is_empty());
}

TEST_CASE("each task is taken once, in fights for the last one too") {
  constexpr std::size_t count = 100000;
  for (const unsigned thieves : {1u, 3u}) {
    // bursts of 1: owner and thieves always meet at the last task; of 700: the ring grows while they steal
    for (const std::size_t burst : {1u, 3u, 700u}) {
      WorkStealingDeque deque;
      std::vector<Marked> tasks(count);
      std::atomic<bool> done{false};
      const auto mark = [](Task* task) { static_cast<Marked*>(task)->taken.fetch_add(1, std::memory_order_relaxed); };
      std::vector<std::jthread> threads;
      for (unsigned t = 0; t < thieves; ++t) {
        threads.emplace_back([&] {
          while (!done.load(std::memory_order_acquire))
            if (Task* task = deque.steal()) mark(task);
        });
      }
      std::size_t next = 0;
      for (bool together = false; next < count; together = !together) {
        TaskBatch batch;
        for (std::size_t i = 0; i < burst && next < count; ++i) {
          if (together)
            batch.add(tasks[next++]);
          else
            deque.push(&tasks[next++]);
        }
        if (together) deque.push(batch);
        for (std::size_t i = 0; i < burst / 2 + 1; ++i)
          if (Task* task = deque.take()) mark(task);
      }
      while (Task* task = deque.take()) mark(task);
      done.store(true, std::memory_order_release);
      threads.clear();
      std::size_t wrong = 0;
      for (const Marked& task : tasks) wrong += task.taken.load() != 1;
      CHECK(wrong == 0);
    }
  }
}

}  // namespace
}  // namespace raddle::vm
