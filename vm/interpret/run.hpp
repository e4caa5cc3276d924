#pragma once
// The run of a program: what the tool calls.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "vm/device/device_use.hpp"
#include "vm/external/processes.hpp"
#include "vm/external/rank_environment.hpp"
#include "vm/foreign/code_request.hpp"
#include "vm/memory/cell_store.hpp"
#include "vm/interpret/placed_counters.hpp"
#include "vm/kernel/kernel_compiler.hpp"
#include "vm/memory/bounded_memory.hpp"
#include "vm/memory/large_blocks.hpp"
#include "vm/place/policy.hpp"
#include "vm/program/program.hpp"
#include "vm/schedule/worker_pool.hpp"

namespace raddle::vm {

class AppKernelCompiler;  // vm/foreign/app_kernel.hpp
class CallRecord;         // vm/record/call_record.hpp
class DeviceLog;          // vm/device/device_log.hpp
class Devices;            // vm/device/devices.hpp
class PointFiles;         // vm/calls/written_files.hpp
class Run;
class TaskListener;  // vm/interpret/task_listener.hpp
class TaskTrace;

/// Ends a run early, from any thread (not from a signal handler). May be used before, during and after the run.
class CancelHook {
 public:
  void cancel();
  /// No worker runs any more: only programs are still to end.
  bool has_come_to_rest() const { return at_rest_.load(std::memory_order_acquire); }
  /// Nobody waits for the run any more: kills its programs with all that they have started, and removes half-written
  /// outputs. @pre cancel() was called, or the process ends
  void give_up();
  /// give_up() where the process is about to end: removes temporaries, too.
  void abandon();
  /// What runs outside of the run right now.
  ProgramsNow programs();
  bool is_cancelled() const { return cancelled_.load(std::memory_order_acquire); }

 private:
  friend class RunDriver;
  void watch(Run* run);
  std::mutex mutex_;                    ///< guards run_
  Run* run_ = nullptr;                  ///< while the run lasts
  std::atomic<bool> cancelled_{false};  ///< by cancel(), once
  std::atomic<bool> at_rest_{false};    ///< by the run's thread, once
};

/// What programs without annotations of their own go by.
struct AppSettings {
  std::int64_t attempts = 1;
  double backoff_s = 1;  ///< before the second attempt, about
  double delay_s = 0;    ///< most of a random delay before each program
};

struct RunOptions {
  unsigned workers = 1;
  std::uint64_t scheduler_seed = 0;  ///< not 0: perturbs the order of tasks, for tests
  Inlining inlining = Inlining::adaptive;
  Scheduler scheduler = Scheduler::stealing;
  QueueOrder queue_order = QueueOrder::lifo;  ///< of the queue tree
  bool keep_going = false;                    ///< independent work goes on after a failure
  bool notes_iterations = false;              ///< makes RunResult::failed_iterations
  RunSettings settings;
  std::vector<Value> arguments;                      ///< the entry's parameters, in order
  KernelCompiler* kernel_compiler = nullptr;         ///< null: everything is interpreted
  AppKernelCompiler* app_kernel_compiler = nullptr;  ///< null: calls of AppKernels fail
  std::shared_ptr<Devices> devices;                  ///< null: workers do everything
  std::string place{default_policy};    ///< policy of calls where memory has a limit: one of policy_names()
  std::uint32_t leaf_threshold = 1000;  ///< calls of a leaf without loops before it is compiled; 0: calls wait for it
  std::size_t call_memory_bytes = 0;    ///< most that open calls and what waits in them may take; 0: half of the memory
  std::uint32_t most_nested_calls = 5'000'000;  ///< more are taken for a recursion without end
  ProcessBudget process_budget;                 ///< of external programs that run at once
  AppSettings apps;
  RunCode run_code = nullptr;  ///< in other languages, for Tcl; null: it can run none
  /// Of a process that calls functions in this language; empty: calls fail.
  std::vector<std::string> python_command, r_command;
  std::vector<std::string> package_folders;  ///< in which Tcl looks for packages, before its own places
  std::vector<Variables> rank_variables;     ///< of the environment, that each rank has set for what it starts
  ProgramOutputs program_outputs;            ///< where programs print to that are not redirected
  std::function<void()> before_program;      ///< called before each external program starts; may be empty
  /// Told about each program that starts and each attempt that ends, by any worker; may be empty.
  std::function<void(const std::string&)> trace_program;
  CancelHook* cancel = nullptr;
  TaskListener* listener = nullptr;   ///< is told of programs and calls of `@memo` functions; may be null
  TaskTrace* trace = nullptr;         ///< gets every task; may be null. Of as many workers
  DeviceLog* device_log = nullptr;    ///< gets what devices have done; may be null
  CallRecord* call_record = nullptr;  ///< null: results of `@memo` functions are neither taken nor kept
  PointFiles* point_files = nullptr;  ///< of the sweep whose point this run is; may be null
  std::uint64_t point = 0;            ///< its number there
  /// The process ends soon after the run: what the entry's variables hold is left to the system. To free millions of
  /// elements, one by one on one thread, takes up to a tenth of the time that it took to make them.
  bool leaves_memory = false;
};

enum class RunStatus : std::uint8_t { ok, failed, stuck, cancelled };

struct RunFailure {
  std::string message;
  Place place;
  FailureNotes notes;
  std::vector<Place> calls;  ///< innermost first
  std::uint64_t count = 1;   ///< how often the same failed here, in other calls or iterations
};

/// A variable, element or closing that waits for the next one of a cycle.
struct CycleStep {
  std::string name;  ///< "" for a temporary
  Place place;       ///< where it waits
  Place declared;
  bool is_unclosed = false;  ///< what waits is its closing
  std::string inside = {};   ///< or what closes it, for this element: "a[3]"
};

/// A variable that something waits for and nothing will assign.
struct StuckVariable {
  std::string name;  ///< "" for a temporary
  Place declared;
  std::string element;                     ///< it is the array, and this element is meant: "a[3]"
  std::uint32_t element_count = 0;         ///< `element` and others of the array
  bool is_unclosed = false;                ///< an array, bag or file that is there but never closed or complete
  std::vector<Place> awaited;              ///< operations that wait for it, each once
  std::vector<Place> calls;                ///< it is an output of a function called here, innermost first
  std::vector<GuardedAssignment> skipped;  ///< assignments whose branch was not taken or whose loop did not get there
  std::vector<CycleStep> cycle;            ///< not empty: it is the first of these, and the last waits for the first
  std::size_t cycle_count = 0;             ///< this and others through the same statements
};

/// Launches that began, and what of the script they are.
struct LaunchCounters {
  void add(const Fusion& begun) {
    ++launches;
    loops += begun.loops;
    ++behind[static_cast<std::size_t>(begun.barrier)];
    if (begun.loops < 2) return;
    ++fused;
    loops_fused += begun.loops;
    shortest = shortest == 0 ? begun.loops : std::min(shortest, begun.loops);
    longest = std::max(longest, begun.loops);
  }
  void add(const LaunchCounters& others) {
    launches += others.launches;
    loops += others.loops;
    fused += others.fused;
    loops_fused += others.loops_fused;
    for (std::size_t i = 0; i < behind.size(); ++i) behind[i] += others.behind[i];
    if (others.shortest != 0) shortest = shortest == 0 ? others.shortest : std::min(shortest, others.shortest);
    longest = std::max(longest, others.longest);
  }
  std::uint64_t after(Barrier barrier) const { return behind[static_cast<std::size_t>(barrier)]; }

  std::uint64_t launches = 0, loops = 0;
  std::uint64_t fused = 0, loops_fused = 0;                     ///< of launches that were several loops
  std::uint32_t shortest = 0, longest = 0;                      ///< of these, in loops; 0: there was none
  std::array<std::uint64_t, barrier_names.size()> behind = {};  ///< launches by Barrier
};

struct RunCounters {
  std::uint64_t tasks = 0;  ///< strands, activations and range pieces taken from a queue
  std::uint64_t frames = 0;
  std::uint64_t iterations = 0;              ///< of `foreach`
  std::uint64_t iterations_native = 0;       ///< among them, of index launches
  std::uint64_t loop_iterations_native = 0;  ///< of `for`, in kernels
  std::uint64_t strands_armed = 0;           ///< had to wait for an input
  std::uint64_t leaf_calls_native = 0;
  std::uint64_t leaf_calls_interpreted = 0;
  std::uint64_t leaf_calls_shared = 0;  ///< forked by native code and made tasks for other workers
  std::uint64_t builtin_calls = 0;
  std::uint64_t app_kernel_calls = 0;  ///< by workers
  std::uint64_t programs_started = 0;  ///< external ones
  std::uint64_t memo_calls_taken = 0;  ///< from the record
  std::uint64_t memo_calls_run = 0;
  LaunchCounters launches;
  CellCounters cells;              ///< of frames, tasks and all else that waits
  LargeBlocks::Counters blocks;    ///< for large arrays; of all runs of the process
  BoundedMemory::Counters memory;  ///< likewise; all 0 where there is no limit
  PlacedCounters placed;           ///< likewise, of the machine
};

struct RunResult {
  RunStatus status = RunStatus::ok;
  std::vector<RunFailure> failures;     ///< by place; without keep_going one, the first that came
  std::vector<RunFailure> replaced;     ///< by place: failures in whose place the script has something else
  std::uint64_t failures_left_out = 0;  ///< that came when there were a thousand others
  /// Of a loop over ints that is the entry's: the values of its variable for which something has failed, in no order,
  /// perhaps more than once.
  std::vector<std::int64_t> failed_iterations;
  std::vector<StuckVariable> stuck;  ///< with keep_going besides the failures, and not because of them
  std::vector<Value> results;        ///< the entry's outputs, of updateables the value at the end; none where not set
  RunCounters counters;
  std::vector<DeviceUse> device_uses;
  std::vector<DeviceShare> device_shares;
  ArrayTraffics arrays_in_memory;                ///< of the machine, where memory has a limit
  std::vector<DeviceObstacle> device_obstacles;  ///< of loops that have run, in the order of the program
};

/// Runs to the end: quiescence, the first failure, or cancellation. External programs still running are ended then.
/// @param program  must stay where it is until the results are dropped: arrays and structures refer to its names
RunResult run(const Program& program, const RunOptions& options);

}  // namespace raddle::vm
