#pragma once
// Runs the points of a cursor: so many at a time, what the record has not at all, what failed again if asked for.
//
// Where the runner knows a faster way for many points together, they go to it in blocks that take some 50 ms, and
// those that do not end well there come back, to be run one by one like all other points.
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <expected>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/tool/space/cursor.hpp"
#include "compiler/tool/sweep/failures.hpp"
#include "compiler/tool/sweep/runner.hpp"

namespace raddle::sweep {

/// When too many points have failed.
struct FailureLimit {
  double number = 0;        ///< more of them end the sweep
  bool is_percent = false;  ///< of those that have ended, from the tenth on
};

inline constexpr std::uint64_t first_runs = 10;  ///< if the first that end all fail, the others will, too

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
  std::uint64_t waiting = 0;  ///< for what another run has of them, which is running them
};

enum class SweepStop : std::uint8_t {
  none,      ///< all points are through
  asked,     ///< request_stop()
  failures,  ///< too many of them
  broken,    ///< the filter failed, the record can not be read, or a result could not be kept
};

class Sweep {
 public:
  /// Which points an earlier run has done. @error  the record can not be read: the sweep ends
  using Done = std::expected<std::vector<bool>, std::string>;
  using FindDone = std::function<Done(std::span<const std::uint64_t> numbers)>;
  struct Claimed {
    vm::PointClaim claim;        ///< null: another run is running them
    std::vector<bool> are_done;  ///< by others, since FindDone was asked; empty: none
  };
  /// None of them throws: threads of the runner still call back when run() is left.
  struct Hooks {
    FindDone are_done;  ///< may be empty
    /// Before points are run, alone or as a block; any thread. @error  as of Done
    std::function<std::expected<Claimed, std::string>(std::span<const std::uint64_t> numbers, bool is_block)> claim;
    /// Keeps what came of an attempt; called from the runner's threads. @return false if it can not
    std::function<bool(const Point&, const Attempt&, std::uint32_t attempt, bool is_last, vm::PointClaim)> keep;
    /// The same for points that have ended well together.
    std::function<bool(vm::BlockRow)> keep_block;
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
  /// After run(): why it is broken; "": a result could not be kept.
  const std::string& error() const {
    return !cursor_.error().empty() ? cursor_.error() : !error_.empty() ? error_ : claim_error_;
  }

 private:
  /// A point, or many.
  struct Task {
    std::uint64_t number = 0;  // of the point
    std::uint32_t attempt = 1;
    std::vector<std::uint64_t> block = {};  // not empty: instead of the point
    vm::PointClaim claim = nullptr;         // null: not yet
    std::size_t size() const { return block.empty() ? 1 : block.size(); }
  };
  bool prepare_next();
  bool look_ahead();
  Task take_candidates();
  void start_ready(std::unique_lock<std::mutex>& lock);
  std::size_t claim(Task& task);
  void start(Task task);
  void try_busy_again();
  void ended(const Point& point, std::uint32_t attempt_number, const Attempt& attempt, vm::PointClaim claim);
  void block_ended(std::size_t size, BlockResult result, vm::PointClaim claim);
  void begin_others(std::size_t ended_points, std::unique_lock<std::mutex>& lock);
  void adapt_block_size(double duration_s);
  void count(const Point& point, const Attempt& attempt);
  void judge_failures();
  bool is_over() const;
  bool wants_more() const;

  Cursor& cursor_;
  PointRunner& runner_;
  BlockRunner* const blocks_;  // null: none
  const SweepOptions options_;
  const Hooks hooks_;
  const std::size_t ready_target_;
  std::deque<std::uint64_t> candidates_;  // points that no earlier run has done. Of run()
  std::size_t look_ahead_;                // points that are looked at together. Of run()
  std::string error_;                     // of are_done. Of run()

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::deque<Task> ready_;  // to be started
  std::deque<Task> busy_;   // another run has claimed them: to be tried again
  unsigned running_tasks_ = 0;
  unsigned starting_ = 0;  // threads that start one right now
  std::size_t block_size_ = 1;
  SweepCounts counts_;
  Failures failures_;
  SweepStop stop_ = SweepStop::none;
  std::string claim_error_;
  bool all_prepared_ = false;
  bool is_ending_ = false;  // end_now() was called
};

}  // namespace raddle::sweep
