#pragma once
// Devices that compute points of launches beside the workers: what a run knows of GPUs. Implemented by gpu/, put into
// RunOptions by the tool. A run without devices has none of this on its way.
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "vm/device/device_traffic.hpp"
#include "vm/device/near_elements.hpp"
#include "vm/foreign/app_kernel.hpp"
#include "vm/kernel/kernel_compiler.hpp"
#include "vm/program/addressed_memory.hpp"
#include "vm/program/leaf_abi.hpp"
#include "vm/schedule/task.hpp"

namespace raddle::vm {

struct DeviceFacts {
  std::string name;                ///< "NVIDIA H100 80GB HBM3"
  std::uint64_t memory_bytes = 0;  ///< 0: that of the host
  unsigned lanes = 0;              ///< points that it computes at once when it is full
  std::string kind = {};           ///< "sm_90, driver of CUDA 12.4"; "": it is not there
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
  explicit DeviceKernel(std::int64_t lanes) : lanes(lanes) {}
  virtual ~DeviceKernel() = default;
  const std::int64_t lanes;
};

struct DeviceOutcome {
  /// Of how many points, from the first one on. The next one does not end well, or the device has lost it or no room.
  std::int64_t made = 0;
  bool is_lost = false;       ///< no device computes it any more: all that could have failed, or it is blamed
  bool is_blamed = false;     ///< devices fail whenever they compute it
  bool has_no_room = false;   ///< in the device's memory, for what was not made
  unsigned device = 0;        ///< which one: index of Devices::facts()
  std::int64_t start_ns = 0;  ///< when the device took it up, or would have, on the steady clock
  std::int64_t spent_ns = 0;  ///< from then on, copies included
  std::int64_t computing_start_ns = 0, computing_ns = 0;  ///< within that; of one that was cut: of all parts together
  DeviceTraffic traffic{};                  ///< of a call that was made with others: of all of them, or of none
  std::vector<DeviceTransfer> transfers{};  ///< likewise
};

/// What one device would take that is not there.
struct DevicePrediction {
  std::int64_t copies_up_ns = 0, computing_ns = 0, copies_down_ns = 0;
  std::int64_t copies_between_ns = 0;  ///< from other devices
  std::int64_t launches = 0;
};
/// What a model says of a run.
struct RunPrediction {
  std::int64_t run_ns = 0;                ///< since the devices were made
  std::vector<DevicePrediction> devices;  ///< by index of Devices::facts()
};

/// Points of one launch: Note [ranges] in leaf_abi.hpp. All memory is the caller's, and stays as it is, until `done`.
struct DeviceBatch {
  std::shared_ptr<const DeviceKernel> kernel;
  std::vector<std::int64_t> words;  ///< first, step, count, addresses of the results, captures
  using Memory = AddressedMemory;
  std::vector<Memory> results;  ///< written; behind the first point that does not end well they mean nothing
  std::vector<Memory> arrays;   ///< read
  std::size_t reads = 0;        ///< the first so many arrays have one element for each point
  /// Of the others, which are there as a whole, by index: what points read of them. Nothing: any element.
  std::vector<std::optional<NearElements>> near;
  /// The run's. With all bits of its stack_limit set (relaxed atomic) nobody wants the batch any more.
  raddle_leaf_worker* run = nullptr;
  unsigned faults = 0;           ///< the devices': how often one has failed that had it under way
  std::int64_t expected_ns = 0;  ///< that it takes a device, about; 0: nobody knows
  /// Called once, on a thread of the devices', which it must not keep.
  std::function<void(const DeviceOutcome&)> done;

  std::int64_t count() const { return words[2]; }
  bool is_wanted() const;
};

class CallReceiver;

/// One call of an AppKernel by hand, which a warp runs. All memory is the caller's, and stays as it is, until it is
/// told.
struct DeviceCall {
  std::shared_ptr<const DeviceKernel> kernel;  ///< made by Devices::prepare_calls()
  std::span<std::uint64_t> words;              ///< as for AppKernelCode; the device writes those of results
  std::span<const AddressedMemory> read, filled;
  raddle_leaf_worker* run = nullptr;  ///< as in DeviceBatch
  unsigned faults = 0;                ///< likewise
  std::int64_t expected_ns = 0;       ///< likewise
  std::int32_t priority = 0;          ///< `@prio`: the greatest is to be made first
  std::shared_ptr<CallReceiver> receiver;
  // what the receiver knows it by
  std::uint32_t foreign = 0;
  std::int64_t begun_ns = 0;
  DeviceOutcome* outcome = nullptr;
  Task* task = nullptr;

  bool is_wanted() const;
};

/// `outcome.made`: 1 if the call has ended well, else 0
struct EndedCall {
  const DeviceCall* call = nullptr;
  DeviceOutcome outcome;
};

/// Hears how calls have ended: of those of one bundle at once, since each message wakes workers.
class CallReceiver {
 public:
  virtual ~CallReceiver() = default;
  /// Each call is told once, on a thread of the devices', which it must not keep. From then on the call's memory is its
  /// owner's. @param calls  of this receiver
  virtual void ended(std::span<const EndedCall> calls) = 0;
};

/// Tells the receivers of the calls.
void tell(std::span<const EndedCall> calls);

/// A compiler, as long as somebody wants code of it: for who asks it for more later, on a thread of his own.
class CompilerLink {
 public:
  explicit CompilerLink(KernelCompiler& compiler) : compiler_(&compiler) {}
  /// Calls `ask`, which must not wait, with the compiler. @return false: it may be gone
  template <typename Ask>
  bool use(const Ask& ask) {
    const std::lock_guard lock(mutex_);
    if (compiler_) ask(*compiler_);
    return compiler_ != nullptr;
  }
  /// Nobody asks it any more.
  void cut() {
    const std::lock_guard lock(mutex_);
    compiler_ = nullptr;
  }

 private:
  std::recursive_mutex mutex_;  ///< the answer may come at once, on this thread, and be followed by another question
  KernelCompiler* compiler_;    ///< guarded by it
};

/// One or several devices behind one queue. Threads: any, any number at a time.
class Devices {
 public:
  virtual ~Devices() = default;  ///< @pre nothing is under way
  /// Gets code for the first kernel of the group, in the background, and a device if none was looked for yet.
  /// @param entry     of the kind `range`
  /// @param compiler  outlives what is made of its code
  /// @param done      gets the kernel, on some thread, perhaps at once, or why none of this will ever run there, in
  ///                  words; "": nobody wants to know
  using Prepared = std::function<void(std::expected<std::shared_ptr<const DeviceKernel>, std::string>)>;
  virtual void prepare(const KernelGroup& kernels, KernelEntry entry, std::shared_ptr<CompilerLink> compiler,
                       Prepared done) = 0;
  /// The same for calls of an AppKernel.
  /// @param function  outlives what is made of its code, and so does the compiler
  virtual void prepare_calls(const ForeignFunction& function, AppKernelCompiler& compiler, Prepared done) = 0;
  /// Never waits. Calls of one kernel that wait together are run together.
  virtual void submit(DeviceCall call) = 0;
  /// Never waits. Batches that one device takes up it takes up in their order.
  virtual void submit(DeviceBatch batch) = 0;
  /// One more batch would start soon; a hint.
  virtual bool is_hungry() const = 0;
  virtual DeviceCosts costs() const = 0;
  /// Of those that were opened so far.
  virtual std::vector<DeviceFacts> facts() const = 0;
  /// Of devices that a model stands for: what they would have taken so far. None: they are there.
  virtual std::optional<RunPrediction> prediction() { return {}; }
  /// What has first gone wrong on them, in words; "": nothing has.
  virtual std::string problem() const = 0;
};

}  // namespace raddle::vm
