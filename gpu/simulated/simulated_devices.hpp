#pragma once
// A device of host threads: it runs what a GPU would, so that all but the GPU is tried without one.
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gpu/memory/batch_run.hpp"
#include "gpu/memory/card_memory.hpp"
#include "gpu/simulated/simulated_calls.hpp"
#include "gpu/simulated/warp_threads.hpp"
#include "gpu/superkernel/super_kernel.hpp"
#include "vm/device/device_load.hpp"
#include "vm/device/devices.hpp"

namespace raddle::gpu {

/// A super kernel whose warps are threads: each runs kernels as machine code for the host (Note [ranges] in
/// vm/program/leaf_abi.hpp), for each of its 32 lanes. Lanes and warps share the points of a batch as those of a GPU
/// do, and get them through the same queues. Its memory is its own, as a card's: arrays are copied there and back, by
/// as many threads as it takes up batches at once. All threads start with the first batch.
class SimulatedDevices final : public vm::Devices {
 public:
  static constexpr unsigned lanes = superkernel::lane_count;  ///< of a warp

  static constexpr std::size_t usual_memory = std::size_t{1} << 30;

  /// @param warps  that compute  @param costs  that it says it has  @param memory  that it has, in bytes
  SimulatedDevices(unsigned warps, const vm::DeviceCosts& costs, std::size_t memory = usual_memory);
  ~SimulatedDevices() override;
  void prepare(const vm::KernelGroup& kernels, vm::KernelEntry entry, std::shared_ptr<vm::CompilerLink> compiler,
               Prepared done) override;
  void submit(vm::DeviceBatch batch) override;
  void prepare_calls(const vm::ForeignFunction& function, vm::AppKernelCompiler& compiler,
                     PreparedCalls done) override {
    calls_.prepare(function, compiler, done);
  }
  void submit(vm::DeviceCall call) override { calls_.submit(std::move(call)); }
  bool is_hungry() const override { return load_.is_below(1, warps_); }
  vm::DeviceCosts costs() const override { return costs_; }
  std::string problem() const override;
  std::vector<vm::DeviceFacts> facts() const override { return {{"simulated", memory_.limit(), warps_ * lanes}}; }

 private:
  struct alignas(superkernel::line_bytes) Line {
    std::byte bytes[superkernel::line_bytes];
  };

  void work(const std::stop_token& stop);
  void run(const vm::DeviceBatch& batch, CopyEngine& engine);

  const unsigned warps_;
  const vm::DeviceCosts costs_;
  vm::DeviceLoad load_;
  SimulatedCalls calls_{warps_};
  std::vector<Line> host_memory_, device_memory_;
  WarpThreads threads_;
  superkernel::SuperKernel kernel_;
  CardMemory memory_;
  mutable std::mutex mutex_;  ///< guards the next three
  std::condition_variable_any changed_;
  std::deque<vm::DeviceBatch> batches_;
  std::string problem_;
  std::vector<std::jthread> copiers_;  ///< last: they use all of the above
};

}  // namespace raddle::gpu
