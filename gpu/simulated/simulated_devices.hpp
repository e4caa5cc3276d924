#pragma once
// Devices of host threads: they run what GPUs would, so that all but the GPU is tried without one.
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gpu/memory/batch_run.hpp"
#include "gpu/memory/card_memory.hpp"
#include "gpu/simulated/card_model.hpp"
#include "gpu/simulated/simulated_calls.hpp"
#include "gpu/simulated/thread_kernel.hpp"
#include "gpu/superkernel/warp.hpp"
#include "vm/device/device_load.hpp"
#include "vm/device/devices.hpp"
#include "vm/place/policy.hpp"

namespace raddle::gpu {

/// A super kernel whose warps are threads: each runs kernels as machine code for the host (Note [ranges] in
/// vm/program/leaf_abi.hpp), for each of its 32 lanes. Lanes and warps share the points of a batch as those of a GPU
/// do, and get them through the same queues. Its memory is its own, as a card's: arrays are copied there and back, by
/// as many threads as it takes up batches at once. All threads start with the first batch.
///
/// Or it stands for GPUs of some kind, each with a memory of its own, and a model tells what they would take
/// (ModelClock). The same threads compute the points of all of them.
class SimulatedDevices final : public vm::Devices {
 public:
  static constexpr unsigned lanes = superkernel::lane_count;  ///< of a warp

  static constexpr std::size_t usual_memory = std::size_t{1} << 30;

  static constexpr std::size_t usual_calls_ahead = 4;

  /// What a model stands for.
  struct Cards {
    const CardModel& model;
    unsigned count = 1;
    ModelLinks links{};
    std::size_t calls_ahead = usual_calls_ahead;  ///< whose arrays each loads while it computes
  };
  /// @param warps  that compute  @param costs  that it says it has  @param memory  that it has, in bytes
  /// @param policy  of vm/place, for calls with large arrays
  SimulatedDevices(unsigned warps, const vm::DeviceCosts& costs, std::size_t memory = usual_memory,
                   const std::string& policy = std::string(vm::default_policy));
  /// @param memory  of each card
  SimulatedDevices(unsigned warps, const vm::DeviceCosts& costs, std::size_t memory, const Cards& cards,
                   const std::string& policy = std::string(vm::default_policy));
  ~SimulatedDevices() override;
  void prepare(const vm::KernelGroup& kernels, vm::KernelEntry entry, std::shared_ptr<vm::CompilerLink> compiler,
               Prepared done) override;
  void submit(vm::DeviceBatch batch) override;
  void prepare_calls(const vm::ForeignFunction& function, vm::AppKernelCompiler& compiler, Prepared done) override {
    calls_->prepare(function, compiler, done);
  }
  void submit(vm::DeviceCall call) override { calls_->submit(std::move(call)); }
  bool is_hungry() const override { return load_.is_below(1, warps_); }
  vm::DeviceCosts costs() const override { return costs_; }
  std::string problem() const override;
  std::vector<vm::DeviceFacts> facts() const override;
  std::optional<vm::RunPrediction> prediction() override {
    return clock_ ? std::optional(clock_->prediction()) : std::nullopt;
  }

 private:
  struct Given {
    vm::DeviceBatch batch;
    std::int64_t given_ns = 0;  ///< by the model's clock
  };
  SimulatedDevices(unsigned warps, const vm::DeviceCosts& costs, std::size_t memory, unsigned cards,
                   std::unique_ptr<ModelClock> clock, CallPlacing way);
  std::string name() const;
  void work(const std::stop_token& stop);
  unsigned card_for(const vm::DeviceBatch& batch);
  void run(const Given& given);

  const unsigned warps_;
  const vm::DeviceCosts costs_;
  const std::unique_ptr<ModelClock> clock_;  ///< null: it stands for nothing
  vm::DeviceLoad load_;
  std::deque<CardMemory> memories_;  ///< by card
  ThreadKernel kernel_;
  mutable std::mutex mutex_;  ///< guards the next three
  std::condition_variable_any changed_;
  std::deque<Given> batches_;
  std::string problem_;
  // last, as they use all of the above
  std::optional<SimulatedCalls> calls_;
  std::vector<std::jthread> copiers_;
};

}  // namespace raddle::gpu
