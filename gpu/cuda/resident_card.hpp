#pragma once
// The super kernel of one card.
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <span>

#include "gpu/cuda/card_queues.hpp"

namespace raddle::gpu {

struct ResidentPatience {
  std::uint64_t silent_ns = 0;  ///< for a beat of its ingest warp
  std::uint64_t answer_ns = 0;  ///< for the end of a range, if nobody knows what it takes
};

/// Computes ranges of points by the super kernel, which is launched with the first one and ends when it has been idle.
/// Other kernels have room beside it: it takes two of the eight blocks of this size that a multiprocessor holds.
class ResidentCard {
 public:
  static constexpr unsigned most_threads = 8;  ///< of the host, each with one range under way
  static constexpr std::size_t most_words = 64;
  static constexpr int most_registers = 64;  ///< of a kernel that may be one of its functions
  static constexpr int lost = -1;  ///< the error of a kernel that answers no more; the driver has none like it

  /// @pre the context is that of this thread  @error  the driver's number
  static std::expected<std::unique_ptr<ResidentCard>, int> make(const CudaDriver& driver, void* context,
                                                                unsigned multiprocessors,
                                                                const ResidentPatience& patience);
  /// Calls `change` while there is no kernel, so that it may load modules. @return false: not called, as the kernel
  /// does not end
  bool swap(const std::function<void()>& change) { return kernel_.swap(change); }
  /// It was given up, and is still there.
  bool is_hung() { return kernel_.is_lost() && queues_->runs(); }
  /// From now on the driver is not asked to free anything of it.
  void abandon() { queues_->abandon(); }
  /// What is launched from now on. @pre called by swap()
  void use(void* function) { queues_->use(function, blocks_); }
  std::int64_t lanes() const;

  /// Waits for the end. @param thread  its caller's, below most_threads: of each one at a time
  /// @param function  of the super kernel  @param words  as the kernel takes them, at most most_words
  /// @return made: of how many points  @error  `lost`
  std::expected<std::int64_t, int> compute(unsigned thread, std::uint64_t function, std::span<const std::int64_t> words,
                                           std::int64_t count);

 private:
  ResidentCard(std::unique_ptr<CardQueues> queues, unsigned blocks, const ResidentPatience& patience);

  const unsigned blocks_;
  const std::uint64_t answer_ns_;
  const std::unique_ptr<CardQueues> queues_;
  superkernel::SuperKernel kernel_;
};

}  // namespace raddle::gpu
