#include "vm/device/device_leaves.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "vm/device/kernel_words.hpp"
#include "vm/schedule/worker_pool.hpp"

namespace raddle::vm {
namespace {

/// Keeps batches until compute(): of `y = x * a[0]`, which does not end well for a negative x.
class DevicesOfTests final : public Devices {
 public:
  void prepare(const KernelGroup& kernels, KernelEntry entry, std::shared_ptr<CompilerLink>, Prepared done) override {
    group = kernels;
    reads = entry.reads;
    if (!has_code) return done(std::unexpected("no device takes it"));
    done(std::make_shared<DeviceKernel>(1000));
  }
  void prepare_calls(const ForeignFunction&, AppKernelCompiler&, Prepared) override {}
  void submit(DeviceCall) override {}
  void submit(DeviceBatch batch) override {
    if (is_gone) return batch.done({.is_lost = true});
    const std::lock_guard lock(mutex);
    batches.push_back(std::move(batch));
  }
  bool is_hungry() const override { return true; }
  DeviceCosts costs() const override { return {.takes = DeviceTakes::whole_launches}; }
  std::vector<DeviceFacts> facts() const override { return {{.name = "of tests"}}; }
  std::string problem() const override { return ""; }

  /// The first one. @return of how many points it was; 0: there is none
  std::int64_t compute(bool is_lost = false) {
    std::unique_lock lock(mutex);
    if (batches.empty()) return 0;
    const DeviceBatch batch = std::move(batches.front());
    batches.pop_front();
    lock.unlock();
    DeviceOutcome outcome{.is_lost = is_lost};
    auto* const y = reinterpret_cast<std::int64_t*>(batch.words[3]);
    const auto* const x = reinterpret_cast<const std::int64_t*>(batch.words[4]);
    const auto* const a = reinterpret_cast<const std::int64_t*>(batch.words[5]);
    for (; !is_lost && batch.is_wanted() && outcome.made < batch.count() && x[outcome.made] >= 0; ++outcome.made)
      y[outcome.made] = x[outcome.made] * a[0];
    batch.done(outcome);
    return batch.count();
  }

  bool has_code = true, is_gone = false;
  KernelGroup group;
  int reads = 0;
  std::mutex mutex;  ///< guards `batches` where there are several threads
  std::deque<DeviceBatch> batches;
};

/// No compiler is asked for anything: DevicesOfTests has the code.
class NoCompiler final : public KernelCompiler {
 public:
  void request(const KernelGroup&, KernelEntry, std::function<void(raddle_leaf_function)>) override {}
  void request_ptx(const KernelGroup&, KernelEntry, std::function<void(std::string)>) override {}
  void request_super_ptx(const std::vector<RangeKernel>&, std::function<void(std::string)>) override {}
};

class ToldTask final : public Task {
 public:
  void run(Worker&) override { has_run = true; }
  bool has_run = false;
};

/// (int y) leaf(int a[], int x)
Program program_of_tests() {
  Program program;
  Kernel& kernel = program.kernels.emplace_back();
  kernel.types = {KernelType::ints, KernelType::int_};
  kernel.parameter_count = 2;
  kernel.outputs = {1};
  kernel.blocks = {{}};
  Function& leaf = program.functions.emplace_back();
  leaf.name = "leaf";
  leaf.is_leaf = leaf.is_heavy = true;
  leaf.leaf_parameters = {KernelType::ints, KernelType::int_};
  leaf.leaf_results = {KernelType::int_};
  return program;
}

struct Calls {
  Calls() { CHECK(DeviceLeaves::are_in(program)); }
  struct Call {
    DeviceLeafCall given;
    ToldTask task;
  };
  /// @pre none before it has got another way
  DeviceLeafCall& submit(std::int64_t x, std::int64_t* array, std::int32_t priority = 0) {
    Call& call = calls.emplace_back();
    call.given.numbers = {x};
    call.given.priority = priority;
    call.given.arrays = {reinterpret_cast<std::int64_t>(array), 1};
    call.given.memory = {{0, 8, nullptr}};
    call.given.task = &call.task;
    if (leaves.way_of_call(0) == DeviceLeaves::Way::later) CHECK_FALSE(leaves.wait(0, call.task));
    REQUIRE(leaves.way_of_call(0) == DeviceLeaves::Way::there);
    leaves.submit(0, call.given);
    return call.given;
  }
  /// Of the first `count` calls, which have all been told of.
  void check_tasks_have_run(std::size_t count) {
    pool.run();
    for (std::size_t i = 0; i < calls.size(); ++i) CHECK(calls[i].task.has_run == (i < count));
  }

  WorkerPool pool{1};
  const Program program = program_of_tests();
  NoCompiler compiler;
  const std::shared_ptr<DevicesOfTests> devices = std::make_shared<DevicesOfTests>();
  std::deque<Call> calls;
  DeviceLeaves leaves{devices, &compiler, program, pool};
  std::int64_t two = 2, three = 3;
};

}  // namespace

TEST_CASE("the first calls go at once, those that wait together as points of one batch") {
  Calls calls;
  for (int i = 0; i < 10; ++i) calls.submit(i, &calls.two);
  CHECK(calls.devices->reads == 1);
  CHECK(calls.devices->group.size() == 2);
  CHECK(words_of(calls.devices->group) == "a single call of `leaf`");
  CHECK(calls.devices->batches.size() == 4);
  for (int i = 0; i < 4; ++i) CHECK(calls.devices->compute() == 1);
  CHECK(calls.devices->compute() == 6);
  CHECK(calls.devices->batches.empty());
  for (std::size_t i = 0; i < 10; ++i)
    CHECK(calls.calls[i].given.results == std::vector{static_cast<std::int64_t>(2 * i)});
  calls.check_tasks_have_run(10);
  CHECK(calls.leaves.uses().at(0).calls == 10);
}

TEST_CASE("calls with other arrays are points of other batches") {
  Calls calls;
  for (int i = 0; i < 10; ++i) calls.submit(i, i % 2 == 0 ? &calls.two : &calls.three);
  for (int i = 0; i < 4; ++i) CHECK(calls.devices->compute() == 1);
  CHECK(calls.devices->compute() == 3);
  CHECK(calls.devices->compute() == 3);
  for (std::size_t i = 0; i < 10; ++i)
    CHECK(calls.calls[i].given.results == std::vector{static_cast<std::int64_t>((2 + i % 2) * i)});
  calls.check_tasks_have_run(10);
}

TEST_CASE("what has the call with the greatest priority goes first") {
  Calls calls;
  for (int i = 0; i < 4; ++i) calls.submit(i, &calls.two);  // these go at once
  std::int64_t arrays[] = {10, 20, 30};
  for (int round = 0; round < 2; ++round)
    for (std::int64_t& array : arrays) calls.submit(round, &array, round == 1 && &array == &arrays[2] ? 5 : 1);
  calls.submit(7, &arrays[1], 3);
  calls.submit(7, &calls.two);
  const auto next_array = [&] {
    return *reinterpret_cast<const std::int64_t*>(calls.devices->batches.front().words[5]);
  };
  for (int i = 0; i < 4; ++i) CHECK(calls.devices->compute() == 1);
  for (const std::int64_t expected : {30, 20, 10, 2}) {
    CHECK(next_array() == expected);
    CHECK(calls.devices->compute() == (expected == 20 ? 3 : expected == 2 ? 1 : 2));
  }
  calls.check_tasks_have_run(12);
}

TEST_CASE("a call that does not end well is a worker's, and those behind it go once more") {
  Calls calls;
  for (int i = 0; i < 4; ++i) calls.submit(i, &calls.two);
  for (int i = 0; i < 8; ++i) calls.submit(i == 3 || i == 7 ? -1 : i, &calls.two);
  for (int i = 0; i < 4; ++i) CHECK(calls.devices->compute() == 1);
  CHECK(calls.devices->compute() == 8);
  CHECK(calls.devices->compute() == 4);
  CHECK(calls.devices->batches.empty());
  for (std::size_t i = 0; i < 8; ++i) {
    const DeviceLeafCall& call = calls.calls[4 + i].given;
    CHECK(call.is_made == (i != 3 && i != 7));
    CHECK(call.outcome.made == (i == 0 || i == 4 ? 3 : 0));
    CHECK(call.results.size() == (i == 3 || i == 7 ? 0 : 1));
  }
  calls.check_tasks_have_run(12);
}

TEST_CASE("what devices have lost is the workers', and what comes later, too") {
  Calls calls;
  for (int i = 0; i < 6; ++i) calls.submit(i, &calls.two);
  while (!calls.devices->batches.empty()) calls.devices->compute(/*is_lost=*/true);
  for (const auto& call : calls.calls) CHECK_FALSE(call.given.is_made);
  calls.check_tasks_have_run(6);
  CHECK_FALSE(calls.leaves.may_go(0));
}

TEST_CASE("devices that are gone answer at once, however many calls with arrays of their own wait") {
  Calls calls;
  std::deque<std::int64_t> arrays(200'000, 5);
  for (std::int64_t& array : arrays) calls.submit(1, &array);
  CHECK(calls.devices->batches.size() == 4);
  calls.devices->is_gone = true;
  calls.devices->compute(/*is_lost=*/true);
  while (!calls.devices->batches.empty()) calls.devices->compute();
  std::int64_t made = 0;
  for (const auto& call : calls.calls) made += call.given.is_made ? 1 : 0;
  CHECK(made == 3);
  calls.pool.run();
  CHECK(std::ranges::all_of(calls.calls, [](const auto& call) { return call.task.has_run; }));
}

TEST_CASE("calls of which many do not end well do not go again and again") {
  Calls calls;
  for (int i = 0; i < 4; ++i) calls.submit(i, &calls.two);
  for (int i = 0; i < 100; ++i) calls.submit(-1, &calls.two);
  for (int i = 0; i < 4; ++i) CHECK(calls.devices->compute() == 1);
  CHECK(calls.devices->compute() == 100);
  CHECK(calls.devices->compute() == 99);
  CHECK(calls.devices->batches.empty());
  calls.check_tasks_have_run(104);
}

TEST_CASE("threads submit calls while others end batches: each call is told once, with its own result") {
  constexpr std::int64_t submitters = 4, calls_each = 500;
  Calls calls;
  std::int64_t* const arrays[] = {&calls.two, &calls.three};
  calls.submit(1, &calls.two);  // from here on the kernel is there
  CHECK(calls.devices->compute() == 1);
  std::vector<std::deque<Calls::Call>> all(submitters);
  std::atomic<bool> all_given{false};
  std::vector<std::jthread> devices, threads;
  for (int i = 0; i < 2; ++i)
    devices.emplace_back([&] {
      while (calls.devices->compute() > 0 || !all_given) std::this_thread::yield();
    });
  for (std::int64_t number = 0; number < submitters; ++number)
    threads.emplace_back([&, number] {
      for (std::int64_t i = 0; i < calls_each; ++i) {
        Calls::Call& call = all[static_cast<std::size_t>(number)].emplace_back();
        call.given.numbers = {i % 50 == 49 ? -1 : i};
        call.given.arrays = {reinterpret_cast<std::int64_t>(arrays[number % 2]), 1};
        call.given.memory = {{0, 8, nullptr}};
        call.given.task = &call.task;
        calls.leaves.submit(0, call.given);
      }
    });
  threads.clear();
  all_given = true;
  devices.clear();
  calls.pool.run();
  bool is_right = true;
  std::int64_t made = 0;
  for (std::size_t number = 0; number < all.size(); ++number)
    for (const auto& [given, task] : all[number]) {
      const std::vector right = {given.numbers[0] * *arrays[number % 2]};
      is_right = is_right && task.has_run && (given.is_made ? given.results == right : given.results.empty());
      made += given.is_made ? 1 : 0;
    }
  CHECK(is_right);
  CHECK(made > 0);
  CHECK(made <= submitters * calls_each * 49 / 50);
}

TEST_CASE("without code calls are the workers'") {
  Calls calls;
  calls.devices->has_code = false;
  ToldTask task;
  CHECK(calls.leaves.way_of_call(0) == DeviceLeaves::Way::later);
  CHECK_FALSE(calls.leaves.wait(0, task));
  CHECK(calls.leaves.way_of_call(0) == DeviceLeaves::Way::here);
}

TEST_CASE("leaves that take no time stay, but for those with @gpu") {
  Program program = program_of_tests();
  program.functions[0].is_heavy = false;
  CHECK_FALSE(DeviceLeaves::are_in(program));
  program.functions[0].placement = Placement::gpu;
  CHECK(DeviceLeaves::are_in(program));
  program.functions[0].placement = Placement::cpu;
  CHECK_FALSE(DeviceLeaves::are_in(program));
}

}  // namespace raddle::vm
