#pragma once
// What one run has devices do of single calls of its leaf functions.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "vm/device/call_sharing.hpp"
#include "vm/kernel/kernel_compiler.hpp"
#include "vm/program/program.hpp"
#include "vm/value/buffer.hpp"

namespace raddle::vm {

/// A single call of a leaf function, for a device. What its words say lies in memory that stays until `task` runs.
struct DeviceLeafCall {
  std::vector<std::int64_t> numbers;    ///< the arguments that are none of arrays: words of leaf_abi.hpp
  std::vector<std::int64_t> arrays;     ///< the words of the others
  std::vector<AddressedMemory> memory;  ///< of arrays: `word` counts those of `arrays`
  std::vector<std::int64_t> results;    ///< words of leaf_abi.hpp; filled before the task is injected, if it was made
  std::int32_t priority = 0;            ///< `@prio`: of what waits the greatest goes first
  bool is_made = false;                 ///< else a worker has to make it
  DeviceOutcome outcome;                ///< of the first call of a batch: of all of it. Else nothing was made
  std::int64_t begun_ns = 0;
  bool has_come_back = false;  ///< with a batch of which another call before it did not end well
  Task* task = nullptr;
};

/// Functions are FunctionIds. Note [bundles of calls]: calls of one function with the same arrays that wait together
/// are points of one batch, which has a column for each number that they are given and give back. A batch goes as soon
/// as the devices have fewer than `most_batches` of the function: so the first calls go at once, and whoever is busy
/// gets large ones. Of those that wait that goes first which has the call with the greatest priority. Of a batch a
/// point of which does not end well, that call is a worker's, and those behind it go once more, but not twice. Without
/// `@gpu` only leaves that take long go: Function::is_heavy.
class DeviceLeaves final : public CallSharing {
 public:
  /// @param compiler  null: none go. All outlive this
  DeviceLeaves(std::shared_ptr<Devices> devices, KernelCompiler* compiler, const Program& program, WorkerPool& pool);
  ~DeviceLeaves() { close(); }
  /// The program has functions of which single calls may go.
  static bool are_in(const Program& program);
  void close() override;
  /// Has the call made. @pre its way was `there`
  void submit(FunctionId leaf, DeviceLeafCall& call);

 private:
  struct Bundle {
    std::vector<DeviceLeafCall*> calls;  ///< all with the same arrays
    std::vector<Buffer::Owner> columns;  ///< of the numbers, then of the results
  };
  /// What waits of a function. Guarded by the mutex.
  struct Waiting {
    using Bundles = std::multimap<std::int32_t, Bundle, std::greater<>>;  ///< by the greatest priority of their calls
    Bundles bundles;
    std::map<std::vector<std::int64_t>, Bundles::iterator> open;  ///< by their arrays: those that take more calls
    unsigned batches = 0;                                         ///< that devices have
    bool is_submitting = false;  ///< some thread is in go_on(): it takes what comes meanwhile
    std::int64_t wave_ns = 0;    ///< LaunchOutlook::wave_ns, by the last batch; 0: not known
  };
  struct Bundles final : Shared, std::enable_shared_from_this<Bundles> {
    Bundles(WorkerPool& pool, const Program& program, Devices& devices);
    /// Behind others of its priority that wait. @pre the mutex is held
    void add(FunctionId leaf, DeviceLeafCall& call);
    /// Batches of what waits, as many as devices are to have. Devices that are gone answer on this thread, at once.
    /// @pre the mutex is not held
    void go_on(FunctionId leaf);
    void submit(FunctionId leaf, Bundle bundle, std::int64_t wave_ns);
    void ended(FunctionId leaf, const std::shared_ptr<Bundle>& bundle, const DeviceOutcome& outcome);

    const Program& program;        ///< not looked at when nothing is under way
    Devices& devices;              ///< likewise; not owned: the last batch may be forgotten on a thread of theirs
    std::vector<Waiting> waiting;  ///< by function; guarded by the mutex
  };
  void prepare(FunctionId leaf) override;
  DeviceLeaves(std::shared_ptr<Devices> devices, KernelCompiler* compiler, const Program& program, WorkerPool& pool,
               std::shared_ptr<Bundles> bundles);

  const std::shared_ptr<CompilerLink> compiler_;
  const Program& program_;
  const std::shared_ptr<Bundles> bundles_;
};

}  // namespace raddle::vm
