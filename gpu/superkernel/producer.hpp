#pragma once
// The host's end of the queues: any thread gives tasks, one thread takes completions.
#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "gpu/superkernel/queue_memory.hpp"

namespace raddle::gpu::superkernel {

/// What stands in a Descriptor.
struct QueueTask {
  std::uint64_t function = 0, words = 0, count = 0, chunk = 1;
  std::uint64_t shares = 1;  ///< 1 to 2^shares_log2
  void* tag = nullptr;       ///< what its completion is known by
};

/// `count` points for up to so many warps, each of which has a few chunks of them, whole warps of lanes.
QueueTask task_of_points(std::uint64_t count, std::uint64_t warps);

struct Completion {
  void* tag = nullptr;
  std::uint64_t made = 0;  ///< number of the first point that does not end well; `no_failure`: there is none
};

class Producer {
 public:
  /// @param start  position at which all counts begin, on the device, too: the first of an odd lap of completions, as
  ///               an empty one looks like the first word of an even lap
  Producer(const QueueSizes& sizes, const HostBlock& memory, std::uint64_t start = 0);

  /// Any thread; waits for nothing. @return false: all descriptors are in use
  bool submit(const QueueTask& task);
  /// One thread at a time. @return the next completion, if it has come
  std::optional<Completion> take();

 private:
  std::optional<std::uint64_t> take_free();

  const QueueSizes sizes_;
  const HostBlock memory_;
  /// By descriptor. The host's alone, and so not in accesses.def. The order of entry_written and completion_read is
  /// enough for them; their own is for ThreadSanitizer, which does not see that a completion follows its task where the
  /// device is served by another process. So no test notices if it is weakened.
  std::vector<std::atomic<void*>> tags_;
  std::vector<std::uint64_t> free_;
  // each group is written by other threads, so it has a line of its own
  alignas(64) std::uint64_t free_taken_;
  alignas(64) std::uint64_t freed_;  ///< written by who takes completions
  std::uint64_t taken_;              ///< that thread's
  alignas(64) std::uint64_t tail_;
};

}  // namespace raddle::gpu::superkernel
