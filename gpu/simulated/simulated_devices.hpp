#pragma once
// A device of host threads: it runs what a GPU would, so that all but the GPU is tried without one.
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "gpu/simulated/simulated_calls.hpp"
#include "gpu/simulated/warp_threads.hpp"
#include "gpu/superkernel/super_kernel.hpp"
#include "vm/device/device_load.hpp"
#include "vm/device/devices.hpp"

namespace raddle::gpu {

/// A super kernel whose warps are threads: each runs kernels as machine code for the host (Note [ranges] in
/// vm/program/leaf_abi.hpp), for each of its 32 lanes. Lanes and warps share the points of a batch as those of a GPU
/// do, and get them through the same queues. The threads start with the first batch.
class SimulatedDevices final : public vm::Devices {
 public:
  static constexpr unsigned lanes = superkernel::lane_count;  ///< of a warp

  /// @param warps  that compute  @param costs  that it says it has
  SimulatedDevices(unsigned warps, const vm::DeviceCosts& costs);
  void prepare(const vm::KernelGroup& kernels, vm::KernelEntry entry, vm::KernelCompiler& compiler,
               std::function<void(std::shared_ptr<const vm::DeviceKernel>)> done) override;
  void submit(vm::DeviceBatch batch) override;
  void prepare_calls(const vm::ForeignFunction& function, vm::AppKernelCompiler& compiler,
                     PreparedCalls done) override {
    calls_.prepare(function, compiler, done);
  }
  void submit(vm::DeviceCall call) override { calls_.submit(std::move(call)); }
  bool is_hungry() const override { return load_.is_below(1, warps_); }
  vm::DeviceCosts costs() const override { return costs_; }
  std::string problem() const override { return ""; }
  std::vector<vm::DeviceFacts> facts() const override { return {{"simulated", 0, warps_ * lanes}}; }

 private:
  struct alignas(superkernel::line_bytes) Line {
    std::byte bytes[superkernel::line_bytes];
  };

  const unsigned warps_;
  const vm::DeviceCosts costs_;
  vm::DeviceLoad load_;
  SimulatedCalls calls_{warps_};
  std::vector<Line> host_memory_, device_memory_;
  WarpThreads threads_;
  superkernel::SuperKernel kernel_;
};

}  // namespace raddle::gpu
