#include "gpu/simulated/thread_kernel.hpp"

#include <bit>
#include <limits>
#include <utility>

namespace raddle::gpu {

namespace {

constexpr std::uint64_t idle_ns = 2'000'000;  ///< until the threads sleep
constexpr std::uint64_t ever = std::numeric_limits<std::uint64_t>::max();

std::size_t lines(std::size_t bytes) { return bytes / superkernel::line_bytes; }

}  // namespace

ThreadKernel::ThreadKernel(unsigned warps, std::uint32_t descriptors_log2, WarpThreads::Dispatch dispatch)
    : warps_(warps),
      sizes_{.descriptors_log2 = descriptors_log2,
             .shares_log2 = static_cast<std::uint32_t>(std::bit_width(warps)),
             .slots_log2 = 4},
      host_memory_(lines(superkernel::HostBlock::size_bytes(sizes_))),
      device_memory_(lines(superkernel::DeviceBlock::size_bytes(sizes_))),
      threads_(warps, dispatch),
      kernel_(sizes_, superkernel::HostBlock(sizes_, host_memory_.front().bytes), queues(), ever, threads_) {}

superkernel::Queues ThreadKernel::queues() {
  const superkernel::DeviceBlock block(sizes_, device_memory_.front().bytes);
  block.write_first_values(0);
  superkernel::Queues queues = queues_in(sizes_, superkernel::HostBlock(sizes_, host_memory_.front().bytes), block);
  queues.idle_ns = idle_ns;
  return queues;
}

void ThreadKernel::submit(std::uint64_t function, const std::int64_t* words, std::uint64_t count,
                          superkernel::SuperKernel::Done done) {
  superkernel::QueueTask task = superkernel::task_of_points(count, warps_);
  task.function = function;
  task.words = reinterpret_cast<std::uint64_t>(words);
  kernel_.submit(task, std::move(done));
}

}  // namespace raddle::gpu
