#include "tests/bench/gpu/task_lengths.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cstdint>
#include <thread>

#include "gpu/superkernel/producer.hpp"
#include "tests/bench/gpu/rows.hpp"
#include "tests/bench/gpu/thread_queues.hpp"

namespace raddle::gpu::bench {

namespace {

/// A point of 32: one lane of a warp sleeps for all. @param words  the first says how long, in ns
std::uint64_t sleep_for(std::uint64_t, const std::int64_t* words, std::uint64_t, std::uint64_t, std::uint64_t end) {
  timespec time{.tv_sec = words[0] / 1'000'000'000, .tv_nsec = words[0] % 1'000'000'000};
  nanosleep(&time, nullptr);
  return end;
}

double percent_of(unsigned workers, std::int64_t ns, bool is_small) {
  ThreadQueues queues({.descriptors_log2 = 10, .shares_log2 = 0, .slots_log2 = 10}, workers, sleep_for);
  superkernel::Producer producer(queues.sizes(), queues.host());
  queues.run();
  const std::int64_t words[] = {ns};
  superkernel::QueueTask task{.count = 1, .chunk = superkernel::lane_count};
  task.words = reinterpret_cast<std::uint64_t>(words);
  const auto pause = [] { std::this_thread::sleep_for(std::chrono::microseconds(50)); };
  const auto run = [&](std::uint64_t tasks) { return us_of_tasks(producer, task, tasks, pause); };
  run(workers);
  // some 0.5 s, and no warp has but a few
  const std::uint64_t each =
      is_small ? 1 : std::clamp<std::uint64_t>(500'000'000 / static_cast<std::uint64_t>(ns), 4, 500);
  const double us = run(each * workers);
  queues.stop();
  return 100 * static_cast<double>(each) * static_cast<double>(ns) / 1e3 / us;
}

}  // namespace

void measure_task_lengths(bool is_small) {
  prctl(PR_SET_TIMERSLACK, 1000);  // ns, of threads that are made from here on, too
  for (const unsigned workers : {1u, 8u, 32u, 84u, 168u})
    for (const std::int64_t us : {100, 1000, 5000, 20'000, 150'000})
      print_row("sleeping", fmt::format("{} warps: efficiency, tasks of {} us", workers, us),
                percent_of(workers, us * 1000, is_small), "%", {{"workers", workers}, {"task_us", us}});
}

}  // namespace raddle::gpu::bench
