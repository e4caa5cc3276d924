#pragma once
// Writes one run into the record, by a thread of its own: what arrives is written at once, or, where that would cost
// more than half a percent of a core, with what arrives meanwhile. While others hold the record locked, what arrives is
// written beside it, and moved there when they let go: however long that takes, nothing is lost.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <expected>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "vm/record/row_writer.hpp"
#include "vm/record/run_record.hpp"
#include "vm/record/spilled_rows.hpp"

namespace raddle::vm {

/// From one commit to the next, so that all of them cost half a percent of a core; no longer than 50 ms.
/// @param cost  processor time of the first
std::chrono::nanoseconds pause_after_commit(std::chrono::nanoseconds cost);

class Recorder {
 public:
  /// Begins a run: gives it its id and stores its row. @throws RecordError
  explicit Recorder(RunRow run);
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  /// Writes what is left. A run that end() was not called for stays without an end.
  ~Recorder();

  const std::string& id() const { return run_.id; }
  /// Any thread. The row is written at once if the pause after the last commit is over, else when it is; waits if very
  /// many rows can not be written.
  void add(PointRow row);  ///< a point's, or a task's
  /// The same for points that were done together; waits if more than a few blocks can not be written.
  void add(BlockRow block);
  /// Waits until what was added is written, or can not be.
  void wait_until_written();
  /// Writes what is left, and the run's end: its counts, its state, what it has taken, what devices have done. Waits
  /// while others hold the record locked, and says so, until give_up().
  /// @error  why not all could be written
  /// @param taken  Attempt::row_digest of each point by itself that it has taken from an earlier run
  std::expected<void, std::string> end(const RunRow& run, std::vector<std::int64_t> taken = {},
                                       const std::vector<DeviceRow>& devices = {});
  /// Any thread: end() waits no longer. What it would have moved into the record is moved by who opens that next.
  void give_up() { gives_up_.store(true, std::memory_order_relaxed); }
  bool has_given_up() const { return has_given_up_; }  ///< after end(): it has failed for that
  /// True once something could not be written; nothing is written any more.
  bool has_failed() const { return has_failed_.load(std::memory_order_acquire); }
  /// Points whose last attempts could not be written.
  struct Unwritten {
    std::uint64_t ok = 0, failed = 0;
  };
  const Unwritten& unwritten() const { return unwritten_; }  ///< after end()

 private:
  using Clock = std::chrono::steady_clock;
  void work();
  void fail(std::string error);  ///< with mutex_ held
  /// @return when the next commit may begin
  Clock::time_point write(const std::vector<PointRow>& rows, const std::vector<BlockRow>& blocks);
  void spill(const std::vector<PointRow>& rows, const std::vector<BlockRow>& blocks);
  void move_spilled();
  /// Now and then, though nothing arrives: who waits for these points may be waited for itself.
  void try_to_move_spilled();
  void write_end(const RunRow& run, const std::vector<std::int64_t>& taken, const std::vector<DeviceRow>& devices);
  void insert(const std::vector<DeviceRow>& devices);
  void tell_of_lock();
  static void count(Unwritten& points, const std::vector<PointRow>& rows, const std::vector<BlockRow>& blocks);
  void count_spilled_as_unwritten();
  void stop();

  RunRow run_;
  std::int64_t run_row_ = 0;
  std::mutex mutex_;  // guards the next six
  std::condition_variable arrived_, written_;
  std::vector<PointRow> waiting_;
  std::vector<BlockRow> waiting_blocks_;
  bool is_writing_ = false;
  bool ending_ = false;
  std::string error_;
  std::atomic<bool> has_failed_{false};
  std::atomic<bool> gives_up_{false};  // relaxed: it says nothing of anything else
  bool has_given_up_ = false;          // of end()
  RunRecord record_;                   // of thread_, once that is started, until it has ended; so are all below
  std::optional<RowWriter> writer_;
  std::optional<SpilledRows> spilled_;      // none: nothing is
  std::vector<PointClaim> spilled_claims_;  // others can not read what is there: they would run it once more
  Clock::time_point locked_since_;
  bool is_lock_told_ = false;
  Unwritten unwritten_, spilled_points_;
  std::thread thread_;
};

}  // namespace raddle::vm
