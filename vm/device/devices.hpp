#pragma once
// Devices that compute points of launches beside the workers: what a run knows of GPUs. Implemented by gpu/, put into
// RunOptions by the tool. A run without devices has none of this on its way.
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "vm/foreign/app_kernel.hpp"
#include "vm/kernel/kernel_compiler.hpp"
#include "vm/program/addressed_memory.hpp"
#include "vm/program/leaf_abi.hpp"

namespace raddle::vm {

struct DeviceFacts {
  std::string name;                ///< "NVIDIA H100 80GB HBM3"
  std::uint64_t memory_bytes = 0;  ///< 0: that of the host
  unsigned lanes = 0;              ///< points that it computes at once when it is full
};

enum class DeviceTakes : std::uint8_t {
  what_is_worth_while,
  whole_launches,  ///< whatever they cost, once there is code: so that what tests see is the same
};

/// What handing over costs, about: who decides what goes there compares with it.
struct DeviceCosts {
  std::int64_t batch_ns = 0;  ///< of a batch, beside its points
  std::int64_t start_ns = 0;  ///< until the first batch of one more kernel can run
  DeviceTakes takes = DeviceTakes::what_is_worth_while;
};

/// A kernel as devices run it. Made by Devices::prepare().
class DeviceKernel {
 public:
  /// @param lanes  points that one device computes side by side at most: so many take it about as long as one does
  /// @param devices  that run it, those with the least numbers
  explicit DeviceKernel(std::int64_t lanes, std::size_t devices = 1) : lanes(lanes), devices(devices) {}
  virtual ~DeviceKernel() = default;
  const std::int64_t lanes;
  const std::size_t devices;
};

struct DeviceOutcome {
  std::int64_t made = 0;      ///< of how many points, from the first one on: the next one does not end well
  bool is_lost = false;       ///< nothing was computed: the device has failed, or has no room
  unsigned device = 0;        ///< which one: index of Devices::facts()
  std::int64_t spent_ns = 0;  ///< from when the device took it up, copies included
};

/// Points of one launch: Note [ranges] in leaf_abi.hpp. All memory is the caller's, and stays as it is, until `done`.
struct DeviceBatch {
  std::shared_ptr<const DeviceKernel> kernel;
  std::vector<std::int64_t> words;  ///< first, step, count, addresses of the results, captures
  using Memory = AddressedMemory;
  std::vector<Memory> results;  ///< written; behind the first point that does not end well they mean nothing
  std::vector<Memory> arrays;   ///< read
  /// The run's. With all bits of its stack_limit set (relaxed atomic) nobody wants the batch any more.
  raddle_leaf_worker* run = nullptr;
  /// Called once, on a thread of the devices', which it must not keep.
  std::function<void(const DeviceOutcome&)> done;

  std::int64_t count() const { return words[2]; }
  bool is_wanted() const;
};

/// One call of an AppKernel by hand, which a warp runs. All memory is the caller's, and stays as it is, until `done`.
struct DeviceCall {
  std::shared_ptr<const DeviceKernel> kernel;  ///< made by Devices::prepare_calls()
  std::span<std::uint64_t> words;              ///< as for AppKernelCode; the device writes those of results
  std::span<const AddressedMemory> read, filled;
  raddle_leaf_worker* run = nullptr;  ///< as in DeviceBatch
  /// Called once, on a thread of the devices', which it must not keep. `made`: 1 if it has ended well, else 0
  std::function<void(const DeviceOutcome&)> done;

  bool is_wanted() const;
};

/// One or several devices behind one queue. Threads: any, any number at a time.
class Devices {
 public:
  virtual ~Devices() = default;  ///< @pre nothing is under way
  /// Gets code for the first kernel of the group, in the background, and a device if none was looked for yet.
  /// @param entry     of the kind `range`
  /// @param compiler  outlives what is made of its code
  /// @param done      called on some thread, perhaps at once; null: none of this will ever run there
  virtual void prepare(const KernelGroup& kernels, KernelEntry entry, KernelCompiler& compiler,
                       std::function<void(std::shared_ptr<const DeviceKernel>)> done) = 0;
  /// The same for calls of an AppKernel.
  /// @param function  outlives what is made of its code, and so does the compiler
  /// @param done      gets the kernel, or why there is none, in words
  using PreparedCalls = std::function<void(std::expected<std::shared_ptr<const DeviceKernel>, std::string>)>;
  virtual void prepare_calls(const ForeignFunction& function, AppKernelCompiler& compiler, PreparedCalls done) = 0;
  /// Never waits. Calls of one kernel that wait together are run together.
  virtual void submit(DeviceCall call) = 0;
  /// Never waits. Batches are taken up in their order.
  virtual void submit(DeviceBatch batch) = 0;
  /// One more batch would start soon; a hint.
  virtual bool is_hungry() const = 0;
  virtual DeviceCosts costs() const = 0;
  /// Of those that were opened so far.
  virtual std::vector<DeviceFacts> facts() const = 0;
  /// What has first gone wrong on them, in words; "": nothing has.
  virtual std::string problem() const = 0;
};

}  // namespace raddle::vm
