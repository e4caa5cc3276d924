#pragma once
// Queues of a super kernel in memory of the host's, and warps that are threads.
#include <vector>

#include "gpu/simulated/warp_threads.hpp"
#include "gpu/superkernel/producer.hpp"
#include "gpu/superkernel/queue_memory.hpp"
#include "tests/bench/gpu/rows.hpp"

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

/// How long it takes to have so many tasks done, as many at once as there is room for.
/// @param pause  while none has ended
double us_of_tasks(superkernel::Producer& producer, const superkernel::QueueTask& task, std::uint64_t tasks,
                   const auto& pause) {
  std::uint64_t sent = 0, done = 0;
  const Clock::time_point begin = Clock::now();
  while (done < tasks) {
    while (sent < tasks && producer.submit(task)) ++sent;
    const std::uint64_t before = done;
    while (producer.take()) ++done;
    if (done == before) pause();
  }
  return us_since(begin);
}

}  // namespace raddle::gpu::bench
