#pragma once
// A super kernel of host threads: each is a warp.
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "gpu/superkernel/super_kernel.hpp"

namespace raddle::gpu {

/// The threads start with the first launch, and sleep from one to the next.
class WarpThreads final : public superkernel::KernelLauncher {
 public:
  /// As superkernel::work() takes it.
  using Dispatch = std::uint64_t (*)(std::uint64_t function, const std::int64_t* words, std::uint64_t first,
                                     std::uint64_t step, std::uint64_t end);
  /// @param workers  warps beside ingest; fewer if the system has no more threads
  WarpThreads(unsigned workers, Dispatch dispatch) : workers_(workers), dispatch_(dispatch) {}
  ~WarpThreads() override;

  bool launch(const superkernel::Queues& queues) override;
  void wait() override;
  bool has_failed() override { return false; }

 private:
  void run(const std::stop_token& stop, unsigned number);

  const unsigned workers_;
  const Dispatch dispatch_;
  std::mutex mutex_;  ///< guards all below
  std::condition_variable_any changed_;
  superkernel::Queues queues_{};
  unsigned running_ = 0;
  std::vector<std::jthread> threads_;
};

}  // namespace raddle::gpu
