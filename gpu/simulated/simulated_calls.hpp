#pragma once
// Calls of AppKernels on a device of host threads.
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "gpu/call_queue.hpp"
#include "vm/device/devices.hpp"

namespace raddle::gpu {

/// Each of its threads is a warp that runs calls as code of the host. They start with the first call. Threads: any.
class SimulatedCalls {
 public:
  explicit SimulatedCalls(unsigned warps) : warps_(warps) {}
  ~SimulatedCalls();
  void prepare(const vm::ForeignFunction& function, vm::AppKernelCompiler& compiler,
               const vm::Devices::PreparedCalls& done);
  void submit(vm::DeviceCall call);

 private:
  void work(const std::stop_token& stop);

  const unsigned warps_;
  CallQueue queue_;
  std::mutex mutex_;  ///< guards what follows
  std::vector<std::jthread> threads_;
};

}  // namespace raddle::gpu
