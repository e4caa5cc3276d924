#pragma once
// Calls of AppKernels on a device of host threads.
#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "gpu/call_queue.hpp"
#include "gpu/simulated/card_model.hpp"
#include "vm/device/devices.hpp"

namespace raddle::gpu {

/// Each of its threads is a warp that runs calls as code of the host: one at a time, or, for a model, all that a card
/// would get at once. They start with the first call. Threads: any.
class SimulatedCalls {
 public:
  /// @param clock  of the model that they stand for, or null; outlives this
  SimulatedCalls(unsigned warps, ModelClock* clock) : warps_(warps), clock_(clock) {}
  ~SimulatedCalls();
  void prepare(const vm::ForeignFunction& function, vm::AppKernelCompiler& compiler, const vm::Devices::Prepared& done);
  void submit(vm::DeviceCall call);

 private:
  void work(const std::stop_token& stop);
  void run_for_model(const std::vector<vm::DeviceCall>& bundle) const;

  const unsigned warps_;
  ModelClock* const clock_;
  CallQueue queue_;
  std::mutex mutex_;  ///< guards what follows
  std::vector<std::jthread> threads_;
};

}  // namespace raddle::gpu
