#include "tests/bench/gpu/queue_costs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "gpu/cuda/card_queues.hpp"
#include "tests/bench/gpu/growth.hpp"
#include "tests/bench/gpu/rows.hpp"

namespace raddle::gpu::bench {

namespace {

using superkernel::Completion;
using superkernel::QueueTask;

constexpr superkernel::QueueSizes sizes{.descriptors_log2 = 13, .shares_log2 = 6, .slots_log2 = 14};
constexpr std::uint64_t ever = ~std::uint64_t{0} >> 1;
constexpr std::size_t range_points = std::size_t{1} << 24, growth_points = std::size_t{1} << 20;
constexpr double patience_us = 10e6;
constexpr QueueTask null_task{.function = 0, .count = 1, .chunk = superkernel::lane_count};

/// A super kernel, what is measured of it, and its end. One at a time: there is one for each number of blocks.
class QueueBench {
 public:
  QueueBench(const BenchCard& card, bool is_small)
      : card_(card), driver_(card.driver()), is_small_(is_small), function_(card.kernel("raddle_super")) {
    card.check(driver_.allocate(&points_, range_points * sizeof(std::uint64_t), card.stream()), "memory");
    card.check(driver_.wait_for_stream(card.stream()), "memory");
    auto made = CardQueues::make(driver_, card.context(), sizes, superkernel::line_bytes);
    if (!made) give_up("queues: " + driver_.text_of(made.error()));
    queues_ = std::move(*made);
    words_ = reinterpret_cast<std::int64_t*>(queues_->words());
    words_[3] = static_cast<std::int64_t>(points_);
    producer_.emplace(sizes, queues_->memory());
    int registers = 0;
    driver_.function_attribute(&registers, cuda_function_registers, function_);
    print_row("super_registers", "registers of the super kernel", registers, "");
  }

  /// @param blocks  of each multiprocessor
  void run_all(unsigned blocks) {
    launch(blocks);
    run(less(100'000), null_task);
    null_tasks();
    one_in_flight();
    ranges();
    growth();
    efficiency_of_tasks();
    efficiency_of_ranges();
    const Clock::time_point begin = Clock::now();
    superkernel::store<superkernel::Access::stop_written>(queues_->memory().stop(), launches_);
    queues_->wait();
    print_row("stop", named("the kernel is told to end, until it has"), us_since(begin), "us");
  }

 private:
  std::uint64_t less(std::uint64_t count) const { return is_small_ ? count / 1000 + 1 : count; }
  std::string named(const std::string& what) const { return fmt::format("{} warps: {}", workers_, what); }

  void null_tasks() {
    for (int i = 0; i < 3; ++i) {
      const std::uint64_t tasks = less(4'000'000);
      print_row("null_tasks", named("null tasks through the queues, one host thread"),
                static_cast<double>(tasks) / run(tasks, null_task), "M/s");
    }
  }

  void one_in_flight() {
    std::vector<double> times;
    for (std::uint64_t i = 0; i < less(30'000); ++i) times.push_back(run(1, null_task));
    print_spread("submit_to_complete", named("submit to complete, one task in flight"), times);
  }

  void ranges() {
    for (const std::uint64_t chunk : {32u, 256u, 2048u}) {
      const std::uint64_t count = less(256), points = less(range_points);
      const double us = run(count, {.function = 1, .count = points, .chunk = chunk, .shares = 64}, 64);
      print_row("range_points",
                named(fmt::format("ranges of {} points, each writes a word, by chunks of {}", points, chunk)),
                static_cast<double>(count * points) / us / 1e3, "G points/s");
      check_points(points, [](std::uint64_t number) { return number; });
    }
  }

  void growth() {
    const std::uint64_t count = less(256), points = less(growth_points);
    const double us = run(count, {.function = 3, .count = points, .chunk = 256, .shares = 64}, 64);
    print_row("growth_points", named(fmt::format("ranges of {} points of the growth leaf, by chunks of 256", points)),
              static_cast<double>(count * points) / us / 1e3, "G points/s");
    const std::uint64_t compared = std::min<std::uint64_t>(points, 20'000);
    const Clock::time_point begin = Clock::now();
    check_points(compared, [](std::uint64_t number) { return std::bit_cast<std::uint64_t>(growth_of_point(number)); });
    print_row("growth_of_host", "the same leaf by one core of the host, with the same bits",
              static_cast<double>(compared) / us_since(begin), "M points/s");
  }

  void efficiency_of_tasks() {
    for (const std::int64_t ns : {4'000'000, 400'000, 100'000, 10'000}) {
      words_[4] = ns;
      const double task_us = static_cast<double>(ns) / 1e3;
      const std::uint64_t tasks = less(
          std::clamp<std::uint64_t>(static_cast<std::uint64_t>(workers_ * 500e3 / task_us), 4 * workers_, 1'000'000));
      const double us = run(tasks, {.function = 2, .count = 1, .chunk = superkernel::lane_count});
      print_row(fmt::format("efficiency_{:g}us", task_us), named(fmt::format("efficiency, tasks of {:g} us", task_us)),
                100 * static_cast<double>(tasks) * task_us / static_cast<double>(workers_) / us, "%");
    }
  }

  /// Each of so many pieces for each of its warps; for some 0.3 s in all.
  void efficiency_of_ranges() {
    constexpr std::uint64_t shares = 64, pieces = 8 * shares, chunk = superkernel::lane_count;
    for (const std::int64_t ns : {400'000, 100'000}) {
      words_[4] = ns;
      const std::uint64_t tasks = less(300'000'000 / static_cast<std::uint64_t>(ns) * workers_ / pieces);
      const double us = run(tasks, {.function = 2, .count = pieces * chunk, .chunk = chunk, .shares = shares});
      const double piece_us = static_cast<double>(ns) / 1e3;
      print_row(fmt::format("efficiency_of_ranges_{:g}us", piece_us),
                named(fmt::format("efficiency, ranges of pieces of {:g} us", piece_us)),
                100 * static_cast<double>(tasks * pieces) * piece_us / static_cast<double>(workers_) / us, "%");
    }
  }

  void launch(unsigned blocks) {
    queues_->use(function_, card_.multiprocessors() * blocks);
    workers_ = card_.multiprocessors() * blocks * CardQueues::threads_of_block / superkernel::lane_count - 1;
    superkernel::Queues queues = queues_->queues(ever);
    queues.launch = ++launches_;
    if (!queues_->launch(queues)) give_up("the super kernel can not be launched");
  }

  /// @param word_of  what each has, by its number
  template <typename WordOf>
  void check_points(std::uint64_t count, const WordOf& word_of) const {
    std::vector<std::uint64_t> found(count);
    card_.check(driver_.copy_out(found.data(), points_, count * sizeof(std::uint64_t), card_.stream()), "copy");
    card_.check(driver_.wait_for_stream(card_.stream()), "copy");
    for (std::uint64_t number = 0; number < count; ++number)
      if (found[number] != word_of(number)) give_up(fmt::format("point {} has {:#x}", number, found[number]));
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

  const BenchCard& card_;
  const CudaDriver& driver_;
  const bool is_small_;
  void* const function_;
  std::uint64_t points_ = 0;
  std::unique_ptr<CardQueues> queues_;
  std::int64_t* words_ = nullptr;
  std::optional<superkernel::Producer> producer_;
  std::uint64_t launches_ = 0, workers_ = 0;
};

}  // namespace

void measure_queues(const BenchCard& card, bool is_small) {
  QueueBench bench(card, is_small);
  for (const unsigned blocks : {1u, 4u}) bench.run_all(blocks);
}

}  // namespace raddle::gpu::bench
