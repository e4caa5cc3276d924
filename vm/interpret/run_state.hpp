#pragma once
// A run of one program: what all workers share of it.
#include <atomic>
#include <deque>
#include <memory>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "vm/calls/memo_calls.hpp"
#include "vm/device/device_calls.hpp"
#include "vm/device/device_leaves.hpp"
#include "vm/device/device_work.hpp"
#include "vm/foreign/foreign_code.hpp"
#include "vm/foreign/tcl_exchange.hpp"
#include "vm/interpret/call_profile.hpp"
#include "vm/interpret/machine.hpp"
#include "vm/interpret/run.hpp"
#include "vm/interpret/run_worker.hpp"
#include "vm/kernel/leaf_table.hpp"
#include "vm/launch/loop_profile.hpp"
#include "vm/program/program.hpp"

namespace raddle::vm {

/// Lives as long as the machine has cells of it. Constants and program: read only.
class Run {
 public:
  Run(Machine& machine, const Program& program, const RunOptions& options);

  /// The entry's first activation, ready to be injected. Inputs that are unset are waited for.
  /// @param cache    of the calling thread, for cells of the machine
  /// @param inputs   a future for each parameter of the entry
  /// @param outputs  a future for each of its outputs; they outlive the machine's cells
  Frame* make_entry_frame(CellCache& cache, std::span<Future* const> inputs, std::vector<Future*> outputs);

  Future& constant(std::uint32_t index) { return constants_[index]; }
  /// What of the run only this worker uses.
  RunWorker& on(const Worker& worker) { return workers_[worker.index()]; }
  /// Notes a failure that nothing has caused before; without keep_going the run ends. Any thread.
  /// @param iteration  of the entry's loop, if that is to be noted
  void report(Ref<Failure> failure, std::optional<std::int64_t> iteration);
  /// Notes one that an attempt has kept from the run. Any thread.
  void note_replaced(Ref<Failure> failure);
  bool is_stopped() const { return pool.stopped(); }
  /// A program, or code in another language, is about to run: it may make files that nobody tells of. Any thread.
  /// @return whether it is the first
  bool note_program() {  // C functions are called often: most only look
    return !has_run_program() && !has_run_program_.exchange(true, std::memory_order_relaxed);
  }
  bool has_run_program() const { return has_run_program_.load(std::memory_order_relaxed); }

  Machine& machine;
  const Program& program;
  const RunOptions& options;
  CellStore& cells;
  WorkerPool& pool;
  Throttle& throttle;
  Outside& outside;
  WrittenFiles& written_files;
  const std::uint64_t number;  ///< of WrittenFiles::add_run
  LoopWindows& loop_windows;
  LeafTable leaves;
  std::optional<DeviceWork> devices;          ///< none: workers do everything
  std::optional<DeviceLeaves> device_leaves;  ///< none: workers make all single calls of leaves, or none take long
  std::optional<DeviceCalls> device_calls;    ///< none: workers make all calls of AppKernels, or there are none
  MemoCalls memo_calls;
  std::vector<LoopProfile> loop_profiles;  ///< by index of Program::foreaches
  std::vector<CallProfile> call_profiles;  ///< by index of Program::functions
  const TclHost tcl_host;
  std::vector<std::unique_ptr<ForeignCode>> foreigns;  ///< by index of Program::foreigns
  std::vector<Future*> results;                        ///< of the entry
  std::deque<RunWorker>& workers() { return workers_; }
  /// By place.
  std::vector<RunFailure> failures();
  /// RunResult::replaced.
  std::vector<RunFailure> replaced_failures();
  /// RunResult::failures_left_out.
  std::uint64_t failures_left_out();
  /// RunResult::failed_iterations.
  std::vector<std::int64_t> failed_iterations();
  /// It has ended: code and results that come now find nobody. Before its cells are freed.
  void close();

 private:
  std::expected<std::string, std::string> run_code(const CodeRequest& request);

  std::atomic<bool> has_run_program_ = false;  // relaxed: who finds its files comes after it
  std::vector<Future> constants_;
  std::deque<RunWorker> workers_;  ///< by index
  /// The same failure at one place, of different calls.
  struct Alike {
    Ref<Failure> least;  ///< by its chain of calls, so that the report does not depend on the order of things
    std::uint64_t count = 0;
  };
  using Failures = std::map<std::pair<Place, std::string>, Alike>;
  /// @return false: it is one too many to be kept
  static bool add_to(Failures& all, Ref<Failure> failure);
  std::vector<RunFailure> list_of(const Failures& from);
  std::mutex failures_mutex_;  ///< guards the next four
  std::vector<std::int64_t> failed_iterations_;
  Failures failures_, replaced_;
  std::uint64_t failures_left_out_ = 0;
};

}  // namespace raddle::vm
