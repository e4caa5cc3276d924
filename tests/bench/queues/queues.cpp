// What the queues of the super kernel cost on a GPU: null tasks, one task in flight, ranges, tasks of some length.
//   raddle_gpu_queues [--small]
// Prints a table. Without a driver it says so and ends with 0; with 1 if something fails, a task does not end, or a
// point has a wrong number.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "gpu/cuda/card_queues.hpp"
#include "gpu/cuda/cuda_devices.hpp"

// RADDLE_BENCH_KERNEL: bench_kernel.cpp as PTX, as CMake has it made.
asm(".pushsection .rodata\nraddle_bench_kernel:\n.incbin \"" RADDLE_BENCH_KERNEL "\"\n.byte 0\n.popsection\n");
extern "C" const char raddle_bench_kernel[];

namespace {

using namespace raddle::gpu;
using superkernel::Completion;
using superkernel::QueueTask;
using Clock = std::chrono::steady_clock;

constexpr superkernel::QueueSizes sizes{.descriptors_log2 = 13, .shares_log2 = 6, .slots_log2 = 14};
constexpr std::uint64_t ever = ~std::uint64_t{0} >> 1;
constexpr std::size_t range_points = std::size_t{1} << 24;
constexpr double patience_us = 10e6;

double us_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

[[noreturn]] void give_up(const std::string& why) {
  fmt::print("gpu-queues: {}\n", why);
  std::fflush(stdout);
  std::_Exit(1);  // a kernel may be there still: the driver would wait for it
}

template <typename... Parts>
void print_row(fmt::format_string<Parts...> text, Parts&&... parts) {
  fmt::print("| {} |\n", fmt::format(text, std::forward<Parts>(parts)...));
  std::fflush(stdout);
}

class Bench {
 public:
  Bench(const CudaDriver& driver, unsigned multiprocessors, bool is_small)
      : driver_(driver), multiprocessors_(multiprocessors), is_small_(is_small) {
    check(driver.device(&device_, 0), "device");
    check(driver.retain_context(&context_, device_), "context");
    check(driver.set_context(context_), "context");
    check(driver.load_module(&module_, raddle_bench_kernel), "module");
    check(driver.module_function(&function_, module_, "raddle_super"), "kernel");
    check(driver.module_function(&null_, module_, "raddle_queue_bench_null"), "kernel");
    check(driver.create_stream(&stream_, 1), "stream");
    check(driver.allocate(&points_, range_points * sizeof(std::uint64_t), stream_), "memory");
    check(driver.wait_for_stream(stream_), "memory");
    auto made = CardQueues::make(driver, context_, sizes, superkernel::line_bytes);
    if (!made) give_up("queues: " + driver.text_of(made.error()));
    queues_ = std::move(*made);
    words_ = reinterpret_cast<std::int64_t*>(queues_->words());
    words_[3] = static_cast<std::int64_t>(points_);
    producer_.emplace(sizes, queues_->memory());
    int registers = 0;
    driver.function_attribute(&registers, cuda_function_registers, function_);
    print_row("registers of the super kernel | {}", registers);
  }

  /// @param blocks  of each multiprocessor
  void run_all(unsigned blocks) {
    launch(blocks);
    const auto less = [&](std::uint64_t count) { return is_small_ ? count / 1000 + 1 : count; };
    run(less(100'000), {.function = 0, .count = 1, .chunk = 32});
    for (int i = 0; i < 3; ++i) {
      const std::uint64_t tasks = less(4'000'000);
      print_row("null tasks through the queues, one host thread | {:.2f} M/s",
                static_cast<double>(tasks) / run(tasks, {.function = 0, .count = 1, .chunk = 32}));
    }
    one_in_flight(less(30'000));
    for (const std::uint64_t chunk : {32u, 256u, 2048u}) {
      const std::uint64_t ranges = less(256), points = less(range_points);
      const double us = run(ranges, {.function = 1, .count = points, .chunk = chunk, .shares = 64}, 64);
      print_row("ranges of {} points, each writes a word, chunks of {}, 64 warps each | {:.1f} G points/s", points,
                chunk, static_cast<double>(ranges * points) / us / 1e3);
      check_points(points);
    }
    for (const std::int64_t ns : {4'000'000, 400'000, 100'000, 10'000}) {
      words_[4] = ns;
      const double task_us = static_cast<double>(ns) / 1e3;
      const std::uint64_t tasks = less(
          std::clamp<std::uint64_t>(static_cast<std::uint64_t>(workers_ * 500e3 / task_us), 4 * workers_, 1'000'000));
      const double us = run(tasks, {.function = 2, .count = 1, .chunk = 32});
      print_row("efficiency of {} warps, tasks of {:g} us | {:.1f} %", workers_, task_us,
                100 * static_cast<double>(tasks) * task_us / static_cast<double>(workers_) / us);
    }
    const Clock::time_point begin = Clock::now();
    superkernel::store<superkernel::Access::stop_written>(queues_->memory().stop(), launches_);
    queues_->wait();
    print_row("stop the kernel | {:.0f} us", us_since(begin));
  }

  void plain_launches() {
    const int count = is_small_ ? 20 : 20'000;
    std::vector<double> times;
    for (int i = 0; i < count; ++i) {
      const Clock::time_point begin = Clock::now();
      check(driver_.launch(null_, 1, 32, stream_, {}), "launch");
      check(driver_.wait_for_stream(stream_), "launch");
      times.push_back(us_since(begin));
    }
    print_spread("launch and wait", times);
    const Clock::time_point begin = Clock::now();
    for (int i = 0; i < count; ++i) driver_.launch(null_, 1, 32, stream_, {});
    check(driver_.wait_for_stream(stream_), "launches");
    print_row("a launch on one stream | {:.2f} us", us_since(begin) / count);
  }

 private:
  void check(int error, const char* what) const {
    if (error != 0) give_up(fmt::format("{}: {}", what, driver_.text_of(error)));
  }

  void launch(unsigned blocks) {
    queues_->use(function_, multiprocessors_ * blocks);
    workers_ = multiprocessors_ * blocks * CardQueues::threads_of_block / superkernel::lane_count - 1;
    superkernel::Queues queues = queues_->queues(ever);
    queues.launch = ++launches_;
    if (!queues_->launch(queues)) give_up("the super kernel can not be launched");
  }

  /// Each has its number.
  void check_points(std::uint64_t count) const {
    std::vector<std::uint64_t> found(count);
    check(driver_.copy_out(found.data(), points_, count * sizeof(std::uint64_t), stream_), "copy");
    check(driver_.wait_for_stream(stream_), "copy");
    for (std::uint64_t number = 0; number < count; ++number)
      if (found[number] != number) give_up(fmt::format("point {} has {}", number, found[number]));
  }

  static void print_spread(const char* what, std::vector<double>& times) {
    std::ranges::sort(times);
    const auto at = [&](double share) {
      return times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1))];
    };
    print_row("{} | p50 {:.2f} us, p99 {:.2f} us, least {:.2f} us", what, at(0.5), at(0.99), times.front());
  }

  std::uint64_t take_all() {
    std::uint64_t taken = 0;
    while (const std::optional<Completion> completion = producer_->take()) {
      if (completion->made != superkernel::no_failure) give_up("a point did not end well");
      ++taken;
    }
    return taken;
  }

  /// @param most  in flight  @return us
  double run(std::uint64_t tasks, QueueTask task, std::uint64_t most = ever) {
    constexpr std::uint64_t burst = 256;
    task.words = queues_->address_of_words();
    std::uint64_t sent = 0, done = 0;
    const Clock::time_point begin = Clock::now();
    for (Clock::time_point last = begin; done < tasks;) {
      for (std::uint64_t i = 0; i < burst && sent < tasks && sent - done < most && producer_->submit(task); ++i) ++sent;
      const std::uint64_t taken = take_all();
      done += taken;
      if (taken != 0)
        last = Clock::now();
      else if (us_since(last) > patience_us)
        give_up(fmt::format("no task was completed for 10 s: {} of {} were before", done, tasks));
    }
    return us_since(begin);
  }

  void one_in_flight(std::uint64_t count) {
    std::vector<double> times;
    for (std::uint64_t i = 0; i < count; ++i) times.push_back(run(1, {.function = 0, .count = 1, .chunk = 32}));
    print_spread("submit to complete, one task in flight", times);
  }

  const CudaDriver& driver_;
  const unsigned multiprocessors_;
  const bool is_small_;
  int device_ = 0;
  void *context_ = nullptr, *module_ = nullptr, *function_ = nullptr, *null_ = nullptr, *stream_ = nullptr;
  std::uint64_t points_ = 0;
  std::unique_ptr<CardQueues> queues_;
  std::int64_t* words_ = nullptr;
  std::optional<superkernel::Producer> producer_;
  std::uint64_t launches_ = 0, workers_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const bool is_small = argc > 1 && std::strcmp(argv[1], "--small") == 0;
  setenv("CUDA_MODULE_LOADING", "EAGER", 1);  // what is loaded late waits for the kernel that stays
  const auto loaded = LoadedDriver::load(CudaDevices::usual_library);
  const auto count = loaded ? (*loaded)->begin() : std::unexpected(loaded.error());
  if (!count) {
    fmt::print("gpu-queues: {}\n", count.error());
    return 0;
  }
  const CudaDriver& driver = **loaded;
  char name[256] = {};
  int device = 0, multiprocessors = 0;
  driver.device(&device, 0);
  driver.device_name(name, sizeof name, device);
  driver.device_attribute(&multiprocessors, cuda_multiprocessor_count, device);
  fmt::print("{}, {} multiprocessors\n\n| what | figure |\n|---|---|\n", name, multiprocessors);
  Bench bench(driver, static_cast<unsigned>(multiprocessors), is_small);
  for (const unsigned blocks : {1u, 4u}) bench.run_all(blocks);
  bench.plain_launches();
  std::fflush(stdout);
  std::_Exit(0);
}
