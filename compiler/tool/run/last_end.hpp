#pragma once
// The end of a run that does not end.
#include <atomic>
#include <functional>
#include <mutex>
#include <optional>

#include "compiler/tool/run/time_limit.hpp"
#include "vm/interpret/run.hpp"

namespace raddle::tool {

/// From cancelling to the time when nobody waits any longer: for workers, which only a function in C, in Tcl or of the
/// library keeps; for all, as programs are killed after 5 s.
inline constexpr double longest_task_s = 3, longest_ending_s = 10;

/// Ends the process where a run that was cancelled does not come back. Make it before the SignalWatch and the
/// TimeLimit, whose threads call begin() as long as they are there; signals are not for its own threads, which those
/// begin.
class LastEnd {
 public:
  /// @param before_end  called, by another thread than the run's, before the process ends with that exit code
  LastEnd(vm::CancelHook& cancel, std::function<void(int code)> before_end)
      : cancel_(cancel), before_end_(std::move(before_end)) {}
  /// The run was cancelled now. Any thread; the first call counts. @param code  to end with
  void begin(int code);
  /// What is done before the end, where another one ends the process. Any thread.
  void prepare(int code);
  /// The run has come back by itself: nothing is done any more.
  void stop();

 private:
  void end(int code);

  vm::CancelHook& cancel_;
  const std::function<void(int code)> before_end_;
  std::atomic<bool> is_ending_{false};  // by the first who ends
  std::mutex mutex_;                    // guards all below
  bool is_over_ = false;
  std::optional<TimeLimit> task_, last_;
};

}  // namespace raddle::tool
