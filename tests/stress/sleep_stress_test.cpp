// Workers that have nothing to do sleep, and for each new task one of them gets up, not all.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/stress/schedulers.hpp"

namespace raddle::vm {
namespace {

using Threads = std::vector<std::filesystem::path>;  // folders in /proc

constexpr std::size_t worker_count = 8;

Threads threads_of_process() {
  Threads threads;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) threads.push_back(thread.path());
  return threads;
}

/// How often each thread has been given a processor, and whether it has one or waits for one.
std::vector<std::string> turns_of(const Threads& threads) {
  std::vector<std::string> turns;
  for (const std::filesystem::path& thread : threads) {
    std::string& text = turns.emplace_back();
    std::ifstream file(thread / "status");
    for (std::string line; std::getline(file, line);)
      if (line.contains("ctxt_switches") || line.starts_with("State:")) text += line + "\n";
  }
  return turns;
}

/// Waits until they sleep, all of them, for that long. @return their turns; none if that does not come
std::vector<std::string> turns_once_asleep(const Threads& threads, std::chrono::milliseconds duration) {
  for (int attempt = 0; attempt < 300; ++attempt) {  // those that have begun just now have to look first
    const std::vector<std::string> before = turns_of(threads);
    std::this_thread::sleep_for(duration);
    const auto sleeps = [](const std::string& turns) { return turns.contains("S (sleeping)"); };
    if (std::ranges::all_of(before, sleeps) && turns_of(threads) == before) return before;
  }
  return {};
}

/// Runs a pool of workers that somebody outside holds: `act(pool, threads of the workers)`, in a thread of its own.
void run_held(const PoolOptions& options, const auto& act) {
  std::thread([] {}).join();              // a sanitizer may start a thread of its own with the first one
  Threads others = threads_of_process();  // a sanitizer's
  std::erase(others, "/proc/self/task/" + std::to_string(gettid()));  // a worker
  WorkerPool pool(worker_count, options);
  pool.hold();
  std::thread outside([&] {
    others.push_back("/proc/self/task/" + std::to_string(gettid()));
    Threads workers;
    while (workers.size() < worker_count) {
      workers = threads_of_process();
      std::erase_if(workers, [&](const auto& thread) { return std::ranges::find(others, thread) != others.end(); });
    }
    act(pool, workers);
    pool.release_hold();
  });
  pool.run();
  outside.join();
}

TEST_CASE("a pool that waits for something outside uses no processor") {
  for (const PoolOptions& options : schedulers) {
    run_held(options, [](WorkerPool&, const Threads& workers) {
      CHECK(!turns_once_asleep(workers, std::chrono::milliseconds(200)).empty());
    });
  }
}

/// Makes `more` tasks.
struct Burst final : Task {
  std::vector<Burst> more;
  std::atomic<int>* ended = nullptr;
  void run(Worker& worker) override {
    for (Burst& task : more) worker.push(task);
    ended->fetch_add(1);
  }
};

TEST_CASE("no more sleepers get up than there are new tasks") {
  for (const PoolOptions& options : schedulers) {
    run_held(options, [](WorkerPool& pool, const Threads& workers) {
      constexpr std::chrono::milliseconds while_(30);
      std::vector<std::string> before = turns_once_asleep(workers, while_);
      for (int round = 0; round < 12; ++round) {
        const int count = 1 + round % 3;
        std::atomic<int> ended{0};
        Burst burst;
        burst.more = std::vector<Burst>(static_cast<std::size_t>(count - 1));
        for (Burst& task : burst.more) task.ended = &ended;
        burst.ended = &ended;
        pool.inject(burst);
        while (ended != count) std::this_thread::yield();
        const std::vector<std::string> after = turns_once_asleep(workers, while_);
        REQUIRE(after.size() == before.size());
        int got_up = 0;
        for (std::size_t i = 0; i < after.size(); ++i) got_up += after[i] != before[i];
        CHECK(got_up >= 1);
        CHECK(got_up <= count);
        before = after;
      }
    });
  }
}

}  // namespace
}  // namespace raddle::vm
