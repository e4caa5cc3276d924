// The queues of a super kernel on host threads: each point is computed once, each task told once, no wake-up is lost,
// whoever is slow. Tasks have memory of their own and are passed on by the queues alone, so that ThreadSanitizer sees
// an order that is too weak; weakened_queues.py has it look.
#include <doctest/doctest.h>

#include <atomic>
#include <deque>
#include <future>
#include <thread>
#include <vector>

#include "gpu/simulated/warp_threads.hpp"
#include "gpu/superkernel/super_kernel.hpp"
#include "tests/stress/super_kernel_tasks.hpp"

namespace raddle::gpu::superkernel {
namespace {

/// Several threads submit the tasks, this one takes their completions and looks at what they have written.
void run_all(Producer& producer, std::deque<SmallTask>& tasks, unsigned producers, std::uint64_t shares) {
  std::vector<std::jthread> threads;
  for (unsigned p = 0; p < producers; ++p)
    threads.emplace_back([&, p] {
      for (unsigned i = p; i < tasks.size(); i += producers)
        for (Pause pause; !producer.submit(written(tasks[i], i, shares));) pause.wait();
    });
  std::size_t told = 0;
  bool is_right = true;
  for (Clock::time_point last = Clock::now(); told < tasks.size();) {
    if (const std::optional<Completion> completion = producer.take()) {
      auto& task = *static_cast<SmallTask*>(completion->tag);
      is_right = is_right && !task.is_told && task.is_right() && completion->made == task.least();
      task.is_told = true;
      ++told;
      last = Clock::now();
    } else if (Clock::now() - last > patience()) {
      give_up("no task was completed for a long time");
    } else {
      std::this_thread::yield();
    }
  }
  CHECK(is_right);
}

void stop(QueueMemory& memory, WarpThreads& threads) {
  store<Access::stop_written>(memory.block.stop(), memory.queues.launch);
  threads.wait();
}

}  // namespace

TEST_CASE("queues of a super kernel: each point once, each task told once") {
  constexpr QueueSizes all_sizes[] = {{0, 0, 0}, {1, 1, 0}, {2, 0, 2}, {3, 2, 1}, {6, 1, 4}};
  for (const unsigned workers : {1u, 2u, 8u})
    for (const unsigned producers : {1u, 4u})
      for (const QueueSizes& sizes : all_sizes) {
        CAPTURE(workers);
        CAPTURE(producers);
        CAPTURE(sizes.ring_log2());
        QueueMemory memory(sizes);
        WarpThreads threads(workers, compute);
        Producer producer(sizes, memory.block);
        memory.queues.launch = 1;
        REQUIRE(threads.launch(memory.queues));
        std::deque<SmallTask> tasks;
        make_tasks(tasks, 600);
        run_all(producer, tasks, producers, std::uint64_t{1} << sizes.shares_log2);
        stop(memory, threads);
      }
}

TEST_CASE("queues of a super kernel: laps begin anew after 2^31") {
  constexpr QueueSizes sizes{2, 0, 2};
  constexpr std::uint64_t start = (std::uint64_t{1} << 33) - 16;
  static_assert(lap_at(start, sizes.descriptors_log2) % 2 == 1);
  static_assert(lap_at(start + 16, sizes.descriptors_log2) == lap_at(0, sizes.descriptors_log2));
  QueueMemory memory(sizes, start);
  WarpThreads threads(2, compute);
  Producer producer(sizes, memory.block, start);
  memory.queues.launch = 1;
  REQUIRE(threads.launch(memory.queues));
  std::deque<SmallTask> tasks;
  make_tasks(tasks, 100);
  run_all(producer, tasks, 2, 1);
  stop(memory, threads);
}

TEST_CASE("queues of a super kernel: a launch goes on where the one before has ended") {
  constexpr QueueSizes sizes{3, 1, 2};
  QueueMemory memory(sizes);
  WarpThreads threads(2, compute);
  Producer producer(sizes, memory.block);
  for (unsigned i = 0; i < 200; ++i) {
    memory.queues.launch = i + 1;
    REQUIRE(threads.launch(memory.queues));
    std::deque<SmallTask> tasks;
    make_tasks(tasks, i % 20);
    run_all(producer, tasks, 1, 2);
    stop(memory, threads);
  }
}

namespace {

/// One task after the other, each when the one before has been told, so that the kernel is often about to end.
void submit_one_by_one(SuperKernel& kernel, unsigned first, unsigned count) {
  for (unsigned i = first; i < first + count; ++i) {
    SmallTask task(1 + i % 40, 1000);
    std::promise<std::optional<std::uint64_t>> told;
    kernel.submit(written(task, i, 2), [&](std::optional<std::uint64_t> made) { told.set_value(made); });
    auto made = told.get_future();
    if (made.wait_for(patience()) != std::future_status::ready) {
      give_up("a task was not told for a long time");
    }
    CHECK(made.get() == no_failure);
    CHECK(task.is_right());
  }
}

}  // namespace

TEST_CASE("super kernel: none is lost of tasks that come while the kernel ends by itself") {
  constexpr QueueSizes sizes{2, 1, 1};
  for (const std::uint64_t idle_ns : {0u, 20'000u})
    for (const unsigned submitters : {1u, 3u}) {
      QueueMemory memory(sizes);
      memory.queues.idle_ns = idle_ns;
      WarpThreads threads(2, compute);
      SuperKernel kernel(sizes, memory.block, memory.queues, ever, threads);
      std::vector<std::jthread> all;
      for (unsigned i = 0; i < submitters; ++i)
        all.emplace_back([&kernel, i] { submit_one_by_one(kernel, i * 1000, 150); });
    }
}

namespace {

const std::uint64_t* ended_of_tests = nullptr;

/// `bad`: number of the launch, which has not ended.
std::uint64_t compute_slowly(std::uint64_t launch, const std::int64_t*, std::uint64_t first, std::uint64_t,
                             std::uint64_t end) {
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return load<Access::ended_read>(ended_of_tests) < launch ? end : first;
}

}  // namespace

TEST_CASE("super kernel: it does not end by itself while a task is under way") {
  constexpr QueueSizes sizes{2, 1, 1};
  QueueMemory memory(sizes);
  memory.queues.idle_ns = 0;
  ended_of_tests = memory.block.ended();
  WarpThreads threads(2, compute_slowly);
  Producer producer(sizes, memory.block);
  for (std::uint64_t launch = 1; launch <= 5; ++launch) {
    CHECK(producer.submit({.function = launch, .count = 3, .chunk = 2, .shares = 2}));
    memory.queues.launch = launch;
    REQUIRE(threads.launch(memory.queues));
    threads.wait();  // it ends by itself then
    const std::optional<Completion> completion = producer.take();
    REQUIRE(completion);
    CHECK(completion->made == no_failure);
  }
}

TEST_CASE("super kernel: more tasks than it has descriptors wait") {
  constexpr QueueSizes sizes{1, 1, 1};
  QueueMemory memory(sizes);
  WarpThreads threads(2, compute);
  SuperKernel kernel(sizes, memory.block, memory.queues, ever, threads);
  std::deque<SmallTask> tasks;
  make_tasks(tasks, 300);
  std::vector<std::promise<std::uint64_t>> told(tasks.size());
  for (unsigned i = 0; i < tasks.size(); ++i)
    kernel.submit(written(tasks[i], i, 2), [&told, i](std::optional<std::uint64_t> made) { told[i].set_value(*made); });
  for (unsigned i = 0; i < tasks.size(); ++i) {
    CHECK(told[i].get_future().get() == tasks[i].least());
    CHECK(tasks[i].is_right());
  }
}

namespace {

std::int64_t code_of_tests = 0;  ///< as code that a launch has: nobody may change it while there is a kernel

std::uint64_t compute_with_code(std::uint64_t bad, const std::int64_t* words, std::uint64_t first, std::uint64_t step,
                                std::uint64_t end) {
  return code_of_tests < 0 ? first : compute(bad, words, first, step, end);
}

}  // namespace

TEST_CASE("super kernel: code is changed while there is no kernel, and no task is lost") {
  constexpr QueueSizes sizes{2, 1, 1};
  QueueMemory memory(sizes);
  WarpThreads threads(2, compute_with_code);
  SuperKernel kernel(sizes, memory.block, memory.queues, ever, threads);
  kernel.swap([] { code_of_tests = 0; });
  std::vector<std::jthread> all;
  for (unsigned i = 0; i < 2; ++i) all.emplace_back([&kernel, i] { submit_one_by_one(kernel, i * 1000, 150); });
  for (int i = 0; i < 100; ++i) {
    kernel.swap([] { ++code_of_tests; });
    std::this_thread::yield();
  }
  all.clear();
  CHECK(code_of_tests == 100);
}

namespace {

/// Launches nothing.
class NoKernel final : public KernelLauncher {
 public:
  explicit NoKernel(bool says_so) : says_so_(says_so) {}
  bool launch(const Queues&) override { return !says_so_; }
  void wait() override {}
  bool has_failed() override { return false; }

 private:
  const bool says_so_;
};

}  // namespace

TEST_CASE("super kernel: what one was given that does not start, or beats no more, is lost") {
  constexpr QueueSizes sizes{1, 0, 1};
  for (const bool says_so : {true, false}) {
    QueueMemory memory(sizes);
    NoKernel launcher(says_so);
    SuperKernel kernel(sizes, memory.block, memory.queues, 1'000'000, launcher);
    for (int round = 0; round < 3; ++round) {
      std::deque<SmallTask> tasks;
      make_tasks(tasks, 5);
      std::vector<std::promise<bool>> lost(tasks.size());
      for (unsigned i = 0; i < tasks.size(); ++i)
        kernel.submit(written(tasks[i], i, 1),
                      [&lost, i](std::optional<std::uint64_t> made) { lost[i].set_value(!made); });
      for (std::promise<bool>& each : lost) CHECK(each.get_future().get());
    }
  }
}

}  // namespace raddle::gpu::superkernel
