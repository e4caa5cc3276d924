#pragma once
// Notes a task in the trace of its run, or what a device has done in the log of its devices, if there is one.
#include "vm/device/device_log.hpp"
#include "vm/device/devices.hpp"
#include "vm/interpret/run_state.hpp"
#include "vm/interpret/task_trace.hpp"

namespace raddle::vm {

/// Made where a task begins, destroyed where it ends; counts it.
class TaskTimer {
 public:
  /// @param instruction  that the task belongs to; no_id: the frame's whole function
  TaskTimer(RunWorker& here, TaskKind kind, const Frame& frame, std::uint32_t instruction = no_id)
      : here_(here), trace_(frame.run_state.options.trace) {
    ++here.counters.tasks;
    if (trace_ == nullptr) return;
    const Program& program = frame.run_state.program;
    entry_ = {.start_ns = trace_->now_ns(),
              .kind = kind,
              .name = &program.functions[frame.body.function].name,
              .instruction = instruction,
              .iterations = here.counters.iterations};
  }
  TaskTimer(const TaskTimer&) = delete;
  TaskTimer& operator=(const TaskTimer&) = delete;
  ~TaskTimer() {
    if (trace_ == nullptr) return;
    entry_.duration_ns = trace_->now_ns() - entry_.start_ns;
    entry_.iterations = here_.counters.iterations - entry_.iterations;
    trace_->add(here_.worker().index(), entry_);
  }

 private:
  RunWorker& here_;
  TaskTrace* const trace_;
  TaskTrace::Entry entry_;
};

/// On the worker that hears of it.
/// @param instruction  the loop's, or the call's
inline void log_device(const Frame& frame, std::uint32_t instruction, const DeviceOutcome& outcome) {
  DeviceLog* const log = frame.run_state.options.device_log;
  if (log == nullptr || outcome.made == 0) return;
  const Program& program = frame.run_state.program;
  DeviceSpan span{.device = outcome.device,
                  .start_ns = outcome.computing_start_ns,
                  .duration_ns = outcome.computing_ns,
                  .function = program.functions[frame.body.function].name,
                  .place = program.places[instruction],
                  .computed = static_cast<std::uint64_t>(outcome.made),
                  .held = outcome.traffic.most_held};
  log->add(span);
  span.computed = span.held = 0;
  for (const DeviceTransfer& transfer : outcome.transfers) {
    span.lane = transfer.lane;
    span.start_ns = transfer.start_ns;
    span.duration_ns = transfer.duration_ns;
    span.bytes = transfer.bytes;
    log->add(span);
  }
}

}  // namespace raddle::vm
