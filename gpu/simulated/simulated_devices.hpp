#pragma once
// A device of host threads: it runs what a GPU would, so that all but the GPU is tried without one.
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "gpu/simulated/simulated_calls.hpp"
#include "vm/device/device_load.hpp"
#include "vm/device/devices.hpp"

namespace raddle::gpu {

/// Each of its threads is a warp: it runs the kernel of a batch, as machine code for the host (Note [ranges] in
/// vm/program/leaf_abi.hpp), for each of its 32 lanes. Lanes and warps share the points as the threads of a GPU do. The
/// threads start with the first batch.
class SimulatedDevices final : public vm::Devices {
 public:
  static constexpr unsigned lanes = 32;  ///< of a warp

  /// @param costs  that it says it has
  SimulatedDevices(unsigned warps, const vm::DeviceCosts& costs);
  ~SimulatedDevices() override;
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
  struct Launch;
  bool has_threads();
  void work(const std::stop_token& stop);

  const unsigned warps_;
  const vm::DeviceCosts costs_;
  vm::DeviceLoad load_;
  SimulatedCalls calls_{warps_};
  std::mutex mutex_;  ///< guards all below
  std::condition_variable_any submitted_;
  std::deque<std::shared_ptr<Launch>> launches_;  ///< those of which not all warps have begun, each once for all
  std::vector<std::jthread> threads_;
};

}  // namespace raddle::gpu
