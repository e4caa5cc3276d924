#pragma once
// Tasks on a GPU of NVIDIA.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "gpu/cuda/card_queues.hpp"
#include "gpu/cuda/driver.hpp"
#include "gpu/gemtc/place.hpp"

namespace raddle::gpu {

/// The first GPU that the driver has. A super kernel stays there while there are tasks, whose functions are the
/// program's kernels: gemtc_gpu.h. The driver is in this process: if the GPU fails, all tasks end with GEMTC_LOST, and
/// so does what is asked of it later.
class GpuPlace final : public GemtcPlace {
 public:
  /// @param options  as for HostPlace, with code
  /// @return null: there is no driver or no GPU, it has no room, or does not take the code
  static std::unique_ptr<GpuPlace> open(const gemtc_options& options);
  GpuPlace(const GpuPlace&) = delete;
  GpuPlace& operator=(const GpuPlace&) = delete;
  ~GpuPlace() override;

  std::uint64_t memory() const override { return memory_; }
  std::int64_t most_threads() const override { return std::int64_t{1} << 32; }  // see status_of()
  gemtc_code copy_in(void* to, const void* from, std::size_t bytes) override;
  gemtc_code copy_out(void* to, const void* from, std::size_t bytes) override;
  void submit(GemtcTask& task, std::function<void()> done) override;

 private:
  /// What a kernel gets of its task, as gemtc_gpu.h has it.
  struct Words {
    std::uint64_t parameters = 0, status = 0;
    std::int64_t count = 0, threads = 0;
  };
  GpuPlace(std::unique_ptr<LoadedDriver> driver, int device, void* context)
      : driver_(std::move(driver)), device_(device), context_(context) {}
  int make(const gemtc_options& options);
  template <typename Copy>
  gemtc_code copy(const Copy& ask);
  std::optional<std::uint64_t> status_of(std::size_t slot);
  void end(GemtcTask& task, std::size_t slot, std::optional<std::uint64_t> made);

  const std::unique_ptr<LoadedDriver> driver_;
  const int device_;
  void* const context_;
  void* module_ = nullptr;
  std::uint64_t memory_ = 0;
  std::uint64_t statuses_ = 0;  ///< on the GPU: of each slot a word, with all bits set while nothing has failed
  std::mutex copies_mutex_;     ///< guards what is asked of the stream
  void* stream_ = nullptr;
  std::mutex slots_mutex_;  ///< guards free_slots_
  std::vector<std::size_t> free_slots_;
  std::unique_ptr<CardQueues> queues_;
  std::optional<superkernel::SuperKernel> kernel_;  ///< last: its thread uses all of the above
};

}  // namespace raddle::gpu
