#pragma once
// Runs the points of a cursor: so many at a time, what the record has not at all, what failed again if asked for.
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "compiler/sweep/cursor.hpp"
#include "compiler/sweep/failures.hpp"
#include "compiler/sweep/runner.hpp"

namespace raddle::sweep {

/// When too many points have failed.
struct FailureLimit {
  double number = 0;        ///< more of them end the sweep
  bool is_percent = false;  ///< of those that have ended, from the tenth on
};

struct SweepOptions {
  unsigned jobs = 1;
  std::uint32_t retries = 0;
  bool keep_going = false;                ///< not even if the first ones all fail
  std::optional<FailureLimit> max_fails;  ///< none: keep_going counts
};

struct SweepCounts {
  std::uint64_t candidates = 0, looked_at = 0;  ///< points before the filter
  std::uint64_t found = 0;                      ///< what the filter has left of those looked at
  std::uint64_t taken = 0;                      ///< from the record
  std::uint64_t running = 0, ok = 0, failed = 0, retried = 0;
};

enum class SweepStop : std::uint8_t {
  none,      ///< all points are through
  asked,     ///< request_stop()
  failures,  ///< too many of them
  broken,    ///< the filter failed, or a result could not be kept
};

class Sweep {
 public:
  struct Hooks {
    std::function<bool(const Point&)> is_done;  ///< by an earlier run; may be empty
    /// Keeps what came of an attempt; called from the runner's thread. @return false if it can not
    std::function<bool(const Point&, const Attempt&, std::uint32_t attempt, bool is_last)> keep;
    std::function<void(const SweepCounts&)> tick;  ///< some times a second, from run(); may be empty
  };
  Sweep(Cursor& cursor, PointRunner& runner, const SweepOptions& options, Hooks hooks);

  /// Returns when nothing is running any more. One thread, once.
  SweepStop run();
  /// No point is begun any more; what runs may end. Any thread.
  void request_stop();
  /// Ends what runs, too; what is ended so is not kept. Any thread but the runner's.
  void end_now();
  SweepCounts counts() const;
  const Failures& failures() const { return failures_; }  ///< after run()

 private:
  struct Task {
    Point point;
    std::uint32_t attempt = 1;
  };
  bool prepare_next();
  void start_ready(std::unique_lock<std::mutex>& lock);
  void ended(Task task, const Attempt& attempt);
  void count(const Task& task, const Attempt& attempt);
  void judge_failures();
  bool is_over() const;

  Cursor& cursor_;
  PointRunner& runner_;
  const SweepOptions options_;
  const Hooks hooks_;
  const std::size_t ready_target_;

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::deque<Task> ready_;  // to be started
  SweepCounts counts_;
  Failures failures_;
  SweepStop stop_ = SweepStop::none;
  bool all_prepared_ = false;
  bool is_ending_ = false;  // end_now() was called
};

}  // namespace raddle::sweep
