#include "tests/bench/gpu/simulated_costs.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <deque>

#include "gpu/cuda/cuda_devices.hpp"
#include "gpu/simulated/simulated_devices.hpp"
#include "gpu/superkernel/producer.hpp"
#include "tests/bench/gpu/rows.hpp"
#include "tests/bench/gpu/thread_queues.hpp"
#include "tests/unit/gpu/device_tests.hpp"

namespace raddle::gpu::bench {

namespace {

constexpr const char* this_program = "/proc/self/exe";

/// Of this process, all threads.
double processor_us() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto us = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_usec);
  };
  return us(usage.ru_utime) + us(usage.ru_stime);
}

void measure_thread_queues(bool is_small) {
  constexpr superkernel::QueueTask task{.count = 1, .chunk = superkernel::lane_count};
  ThreadQueues queues({.descriptors_log2 = 13, .shares_log2 = 0, .slots_log2 = 13});
  superkernel::Producer producer(queues.sizes(), queues.host());
  queues.run();
  const auto run = [&](std::uint64_t tasks) {
    return us_of_tasks(producer, task, tasks, [] { std::this_thread::yield(); });
  };
  const std::uint64_t tasks = is_small ? 10'000 : 4'000'000;
  run(tasks / 10);
  print_row("threads_null_tasks", "null tasks to one thread, through the queues",
            static_cast<double>(tasks) / run(tasks), "M/s");
  std::vector<double> times;
  for (int i = 0; i < (is_small ? 100 : 100'000); ++i) times.push_back(run(1));
  print_spread("threads_submit_to_complete", "submit to complete, one task in flight, to one thread", std::move(times));
  queues.stop();
}

void measure_batches(vm::Devices& devices, const std::string& row, const std::string& name, bool is_small) {
  CompilerOfTests compiler;
  const auto kernel = prepared(devices, compiler);
  if (!kernel) give_up(name + ": the kernel is not prepared: " + devices.problem());
  const Elements elements = elements_of(4, [](std::size_t) { return std::int64_t{3}; });
  std::vector<double> times;
  for (int i = 0; i < (is_small ? 20 : 2000); ++i) {
    BatchOfTests batch(i, 1, 1, -1, elements);
    const Clock::time_point begin = Clock::now();
    if (batch.submit(devices, kernel).get().made != 1 || !batch.is_right(1)) give_up(name + ": a batch is not right");
    times.push_back(us_since(begin));
  }
  print_spread(row + "_batch", name + ": a batch of one point, submit to complete", std::move(times));
  const int count = is_small ? 50 : 5000;
  std::deque<BatchOfTests> batches;
  for (int i = 0; i < count; ++i) batches.emplace_back(i, 1, 1, -1, elements);
  std::vector<std::future<vm::DeviceOutcome>> outcomes;
  const double processor_begin = processor_us();
  const Clock::time_point begin = Clock::now();
  for (BatchOfTests& batch : batches) outcomes.push_back(batch.submit(devices, kernel));
  for (auto& outcome : outcomes)
    if (outcome.get().made != 1) give_up(name + ": a batch is not right");
  print_row(row + "_batches", name + ": batches of one point, many under way, each", us_since(begin) / count, "us",
            {{"processor_us", (processor_us() - processor_begin) / count}});
}

std::int64_t null_call(std::uint64_t*, char*, std::size_t) { return 0; }

class NullKernels final : public vm::AppKernelCompiler {
 public:
  std::expected<vm::AppKernelCode, std::string> load(const vm::ForeignFunction&) override { return null_call; }
  void request_ptx(const vm::ForeignFunction&, PtxReceiver done) override {
    done("calls " + std::to_string(text_address(&null_call)));
  }
};

/// Counts what it is told.
class Calls final : public vm::CallReceiver {
 public:
  void ended(std::span<const vm::EndedCall> calls) override {
    for (const vm::EndedCall& call : calls)
      if (call.outcome.made != 1) give_up("a call is not made");
    ++messages;
    told += calls.size();
    told.notify_all();
  }
  void wait(std::uint64_t count) const {
    for (std::uint64_t now = told; now < count; now = told) told.wait(now);
  }
  std::atomic<std::uint64_t> told{0}, messages{0};  ///< messages is written before told
};

/// Calls of an AppKernel that does nothing.
class NullCalls {
 public:
  /// @param most  of them all
  NullCalls(vm::Devices& devices, const std::string& name, std::uint64_t most) : devices_(devices), words_(most) {
    std::promise<std::shared_ptr<const vm::DeviceKernel>> prepared;
    devices.prepare_calls(function_, compiler_, [&](auto kernel) { prepared.set_value(kernel ? *kernel : nullptr); });
    kernel_ = prepared.get_future().get();
    if (!kernel_) give_up(name + ": the AppKernel is not prepared: " + devices.problem());
  }
  void submit() {
    vm::DeviceCall call;
    call.kernel = kernel_;
    call.words = std::span(words_).subspan(count_++, 1);
    call.run = &run_;
    call.receiver = calls_;
    devices_.submit(std::move(call));
  }
  /// Until so many at most are under way.
  void wait(std::uint64_t under_way = 0) const {
    if (count_ > under_way) calls_->wait(count_ - under_way);
  }
  std::uint64_t bundles() const { return calls_->messages; }

 private:
  vm::Devices& devices_;
  const vm::ForeignFunction function_;
  NullKernels compiler_;
  std::shared_ptr<const vm::DeviceKernel> kernel_;
  const std::shared_ptr<Calls> calls_ = std::make_shared<Calls>();
  raddle_leaf_worker run_{};
  std::vector<std::uint64_t> words_;  ///< one of each call
  std::uint64_t count_ = 0;
};

void measure_calls(vm::Devices& devices, const std::string& row, const std::string& name, bool is_small) {
  const std::uint64_t single = is_small ? 20 : 2000, many = is_small ? 1000 : 200'000;
  NullCalls calls(devices, name, single + many);
  std::vector<double> times;
  while (times.size() < single) {
    const Clock::time_point begin = Clock::now();
    calls.submit();
    calls.wait();
    times.push_back(us_since(begin));
  }
  print_spread(row + "_call", name + ": a single call, submit to complete", std::move(times));
  const std::uint64_t bundles = calls.bundles();
  const double processor_begin = processor_us();
  const Clock::time_point begin = Clock::now();
  for (std::uint64_t i = 0; i < many; ++i) calls.submit();
  calls.wait();
  const double us = us_since(begin), each = static_cast<double>(many);
  print_row(row + "_calls", name + ": single calls in bundles, each", us / each * 1e3, "ns",
            {{"processor_ns", (processor_us() - processor_begin) / each * 1e3},
             {"calls_of_bundle", each / static_cast<double>(calls.bundles() - bundles)}});
}

void measure_calls_under_way(vm::Devices& devices, const std::string& row, const std::string& name, bool is_small) {
  for (const std::uint64_t most : {1u, 10u, 100u, 1000u, 10'000u}) {
    const std::uint64_t many = is_small ? 200 : std::min<std::uint64_t>(200'000, 10'000 + 1000 * most);
    NullCalls calls(devices, name, many);
    const Clock::time_point begin = Clock::now();
    for (std::uint64_t i = 0; i < many; ++i) {
      calls.wait(most - 1);
      calls.submit();
    }
    calls.wait();
    const double each = static_cast<double>(many);
    print_row(row + "_calls_a_second", fmt::format("{}: calls in a second, {} under way", name, most),
              each / us_since(begin) * 1e6, "calls/s",
              {{"under_way", most}, {"calls_of_bundle", each / static_cast<double>(calls.bundles())}});
  }
}

void measure_devices(vm::Devices& devices, const std::string& row, const std::string& name, bool is_small) {
  measure_batches(devices, row, name, is_small);
  measure_calls(devices, row, name, is_small);
}

}  // namespace

void measure_calls_under_way(const std::string& library, bool is_small) {
  {
    SimulatedDevices devices(1, {});
    measure_calls_under_way(devices, "simulated", "simulated device", is_small);
  }
  CudaDevices devices(1, vm::DeviceTakes::what_is_worth_while, CudaDevices::Way::launches, library, {},
                      {.path = this_program});
  measure_calls_under_way(devices, "server", "driver without a GPU, in its own process", is_small);
}

void measure_simulated(const std::string& library, bool is_small) {
  measure_thread_queues(is_small);
  constexpr auto takes = vm::DeviceTakes::what_is_worth_while;
  constexpr auto launches = CudaDevices::Way::launches;
  {
    SimulatedDevices devices(1, {});
    measure_devices(devices, "simulated", "simulated device", is_small);
  }
  {
    CudaDevices devices(1, takes, launches, library);
    measure_devices(devices, "driver", "driver without a GPU, in this process", is_small);
  }
  CudaDevices devices(1, takes, launches, library, {}, {this_program});
  measure_devices(devices, "server", "driver without a GPU, in its own process", is_small);
}

}  // namespace raddle::gpu::bench
