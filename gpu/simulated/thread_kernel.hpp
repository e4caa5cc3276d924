#pragma once
// A super kernel of host threads, with the memory of its queues.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "gpu/simulated/warp_threads.hpp"
#include "gpu/superkernel/queue_memory.hpp"
#include "gpu/superkernel/super_kernel.hpp"

namespace raddle::gpu {

/// Its threads start with the first task, and sleep when there has been nothing to do for 2 ms. Threads: any.
class ThreadKernel {
 public:
  /// @param warps  that compute  @param descriptors_log2  logarithm, to base 2, of how many tasks they know of at once;
  /// others wait
  ThreadKernel(unsigned warps, std::uint32_t descriptors_log2, WarpThreads::Dispatch dispatch);

  /// Never waits. @param function, words  as Dispatch gets them  @param done  as for SuperKernel
  void submit(std::uint64_t function, const std::int64_t* words, std::uint64_t count,
              superkernel::SuperKernel::Done done);

 private:
  struct alignas(superkernel::line_bytes) Line {
    std::byte bytes[superkernel::line_bytes];
  };
  superkernel::Queues queues();

  const unsigned warps_;
  const superkernel::QueueSizes sizes_;
  std::vector<Line> host_memory_, device_memory_;
  WarpThreads threads_;
  superkernel::SuperKernel kernel_;
};

}  // namespace raddle::gpu
