#pragma once
// Notes a task in the trace of its run, if there is one.
#include "vm/interpret/run_state.hpp"
#include "vm/interpret/task_trace.hpp"

namespace raddle::vm {

/// Made where a task begins, destroyed where it ends; counts it.
class TaskTimer {
 public:
  /// @param instruction  that the task belongs to; no_id: the frame's whole function
  TaskTimer(Interpreter& interpreter, TaskKind kind, const Frame& frame, std::uint32_t instruction = no_id)
      : interpreter_(interpreter), trace_(frame.run_state.options.trace) {
    ++interpreter.counters.tasks;
    if (trace_ == nullptr) return;
    const Program& program = frame.run_state.program;
    entry_ = {.start_ns = trace_->now_ns(),
              .kind = kind,
              .name = &program.functions[frame.body.function].name,
              .instruction = instruction,
              .iterations = interpreter.counters.iterations};
  }
  TaskTimer(const TaskTimer&) = delete;
  TaskTimer& operator=(const TaskTimer&) = delete;
  ~TaskTimer() {
    if (trace_ == nullptr) return;
    entry_.duration_ns = trace_->now_ns() - entry_.start_ns;
    entry_.iterations = interpreter_.counters.iterations - entry_.iterations;
    trace_->add(interpreter_.worker().index(), entry_);
  }

 private:
  Interpreter& interpreter_;
  TaskTrace* const trace_;
  TaskTrace::Entry entry_;
};

}  // namespace raddle::vm
