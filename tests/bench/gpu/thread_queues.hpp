#pragma once
// Queues of a super kernel in memory of the host's, and warps that are threads.
#include <vector>

#include "gpu/simulated/warp_threads.hpp"
#include "gpu/superkernel/queue_memory.hpp"

namespace raddle::gpu::bench {

inline std::uint64_t nothing(std::uint64_t, const std::int64_t*, std::uint64_t, std::uint64_t, std::uint64_t end) {
  return end;
}

class ThreadQueues {
 public:
  /// @param workers  beside ingest
  explicit ThreadQueues(const superkernel::QueueSizes& sizes, unsigned workers = 1,
                        WarpThreads::Dispatch dispatch = nothing)
      : sizes_(sizes),
        host_memory_(superkernel::HostBlock::size_bytes(sizes) / sizeof(Line)),
        device_memory_(superkernel::DeviceBlock::size_bytes(sizes) / sizeof(Line)),
        threads_(workers, dispatch) {
    device().write_first_values(0);
  }

  const superkernel::QueueSizes& sizes() const { return sizes_; }
  superkernel::HostBlock host() { return {sizes_, host_memory_.front().bytes}; }
  /// Until there is nothing in them any more.
  void run_until_idle() {
    launch(0);
    threads_.wait();
  }
  /// Until stop().
  void run() { launch(~std::uint64_t{0}); }
  void stop() {
    superkernel::store<superkernel::Access::stop_written>(host().stop(), launches_);
    threads_.wait();
  }

 private:
  struct alignas(superkernel::line_bytes) Line {
    std::byte bytes[superkernel::line_bytes];
  };
  superkernel::DeviceBlock device() { return {sizes_, device_memory_.front().bytes}; }
  void launch(std::uint64_t idle_ns) {
    superkernel::Queues queues = queues_in(sizes_, host(), device());
    queues.launch = ++launches_;
    queues.idle_ns = idle_ns;
    threads_.launch(queues);
  }

  const superkernel::QueueSizes sizes_;
  std::vector<Line> host_memory_, device_memory_;
  std::uint64_t launches_ = 0;
  WarpThreads threads_;
};

}  // namespace raddle::gpu::bench
