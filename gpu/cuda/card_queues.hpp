#pragma once
// The queues of a super kernel in the memory of one GPU, and its launches.
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>

#include "gpu/cuda/driver.hpp"
#include "gpu/superkernel/super_kernel.hpp"

namespace raddle::gpu {

/// Beside a kernel that stays, nothing may be freed or loaded but by a stream: the driver would wait for its end.
class CardQueues final : public superkernel::KernelLauncher {
 public:
  static constexpr unsigned threads_of_block = 256;

  /// @param driver       has begun; outlives this
  /// @param words_bytes  of memory of the host's, beside the queues, that the GPU reads: for arguments
  /// @pre the context is that of this thread  @error  the driver's number
  static std::expected<std::unique_ptr<CardQueues>, int> make(const CudaDriver& driver, void* context,
                                                              const superkernel::QueueSizes& sizes,
                                                              std::size_t words_bytes);
  /// @pre there is no kernel, and the context is that of this thread
  ~CardQueues() override;

  superkernel::HostBlock memory() const { return {sizes_, host_}; }
  /// As the GPU sees them. @param idle_ns  Queues::idle_ns
  superkernel::Queues queues(std::uint64_t idle_ns) const;
  std::byte* words() const { return host_ + superkernel::HostBlock::size_bytes(sizes_); }
  std::uint64_t address_of_words() const { return host_address_ + superkernel::HostBlock::size_bytes(sizes_); }

  /// What the next launch runs. @pre there is no kernel  @param blocks  of the whole card
  void use(void* function, unsigned blocks) { function_ = function, blocks_ = blocks; }
  /// The last one has neither ended nor failed.
  bool runs() const;
  /// The kernel does not end: nothing of all this is freed.
  void abandon() { device_address_ = 0, host_ = nullptr, stream_ = nullptr; }
  bool launch(const superkernel::Queues& queues) override;
  void wait() override;
  bool has_failed() override;

 private:
  CardQueues(const CudaDriver& driver, void* context, const superkernel::QueueSizes& sizes)
      : driver_(driver), context_(context), sizes_(sizes) {}
  int allocate(std::size_t words_bytes);

  const CudaDriver& driver_;
  void* const context_;
  const superkernel::QueueSizes sizes_;
  void* stream_ = nullptr;
  std::byte* host_ = nullptr;
  std::uint64_t host_address_ = 0, device_address_ = 0;
  void* function_ = nullptr;  ///< written while there is no kernel, read by launches: SuperKernel::swap()
  unsigned blocks_ = 0;
};

}  // namespace raddle::gpu
