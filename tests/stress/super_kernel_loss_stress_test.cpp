// A super kernel that is lost while its tasks end, and others swap its code. For ThreadSanitizer above all.
#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <deque>
#include <optional>
#include <thread>
#include <vector>

#include "gpu/simulated/warp_threads.hpp"
#include "gpu/superkernel/super_kernel.hpp"
#include "tests/stress/super_kernel_tasks.hpp"

namespace raddle::gpu::superkernel {

namespace {

/// Does not hear that it is to end: it goes on with what it is given.
class DeafKernel final : public KernelLauncher {
 public:
  DeafKernel() : threads_(2, compute) {}
  bool launch(const Queues& queues) override {
    Queues own = queues;
    own.stop = &stop_;
    own.ended = &ended_;
    return threads_.launch(own);
  }
  void wait() override {}
  bool has_failed() override { return has_failed_; }
  void die() {
    end();
    has_failed_ = true;
  }
  void end() {
    store<Access::stop_written>(&stop_, ever);
    threads_.wait();
  }

 private:
  std::uint64_t stop_ = 0, ended_ = 0;
  std::atomic<bool> has_failed_{false};
  WarpThreads threads_;
};

/// Threads that submit one task after the other as long as the kernel is there, some of them at a time.
class Submitters {
 public:
  explicit Submitters(SuperKernel& kernel) {
    for (std::deque<SmallTask>& tasks : tasks_)
      threads_.emplace_back([&] {
        for (unsigned i = 0; !kernel.is_lost(); ++i) {
          while (under_way_ > 16 && !kernel.is_lost()) std::this_thread::yield();
          SmallTask& task = tasks.emplace_back(1 + i % 40, 1000);
          ++under_way_;
          kernel.submit(written(task, 0, 2), [&](std::optional<std::uint64_t> made) {
            if (task.is_told || (made && !task.is_right())) is_right_ = false;
            task.is_told = true;
            ++(made ? made_ : lost_);
            --under_way_;
          });
        }
      });
  }
  std::uint64_t made() const { return made_; }
  std::uint64_t lost() const { return lost_; }
  /// When all of them have been told.
  bool is_right() {
    threads_.clear();
    const Clock::time_point begin = Clock::now();
    for (; under_way_ != 0; std::this_thread::yield())
      if (Clock::now() - begin > patience()) give_up("a task was not told for a long time");
    return is_right_;
  }

 private:
  std::array<std::deque<SmallTask>, 3> tasks_;
  std::atomic<std::uint64_t> under_way_{0}, made_{0}, lost_{0};
  std::atomic<bool> is_right_{true};
  std::vector<std::jthread> threads_;
};

}  // namespace

TEST_CASE("super kernel: one that is lost in a swap, while tasks end, loses each task that was not told, once") {
  constexpr QueueSizes sizes{3, 1, 2};
  std::uint64_t made = 0, lost = 0;
  for (unsigned round = 0; round < 43; ++round) {
    const bool dies = round > 40;
    QueueMemory memory(sizes);
    DeafKernel launcher;
    std::optional<SuperKernel> kernel;
    kernel.emplace(sizes, memory.block, memory.queues, dies ? ever : 3'000'000, launcher);
    Submitters submitters(*kernel);
    while (submitters.made() < 20 && !kernel->is_lost()) std::this_thread::yield();
    std::jthread dying;
    if (dies) dying = std::jthread([&launcher] { launcher.die(); });
    CHECK_FALSE(kernel->swap([] { FAIL_CHECK("the kernel is there"); }));
    CHECK(kernel->is_lost());
    CHECK(submitters.is_right());
    made += submitters.made();
    lost += submitters.lost();
    dying = {};
    kernel.reset();
    launcher.end();
  }
  CHECK(made > 0);
  CHECK(lost > 0);
}

}  // namespace raddle::gpu::superkernel
