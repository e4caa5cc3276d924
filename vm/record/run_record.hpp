#pragma once
// What is kept of runs, and how it is read: the file `.raddle/runs.db` in the folder where the command was typed.
//
// A row of a run is written when it begins and when it ends; a row of a point when an attempt at it has ended, so that
// nothing has to be put right after a process was killed: what has no row was not finished, and a run without an end
// whose process does not live was killed. Nobody locks anything for longer than one short transaction.
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vm/record/database.hpp"
#include "vm/record/lost_points.hpp"
#include "vm/record/point_claims.hpp"
#include "vm/record/point_key.hpp"

namespace raddle::vm {

/// Where the record of this folder lies.
inline constexpr const char* record_path = ".raddle/runs.db";

enum class RunState : std::uint8_t {
  running,
  done,
  failed,       ///< done, and points failed
  stopped,      ///< early, can be resumed
  interrupted,  ///< by the user, can be resumed
  killed,       ///< has no end, and its process is not there: never stored, found out when it is read
};
std::string_view name_of(RunState state);

enum class PointOutcome : std::uint8_t {
  ok,
  exit_code,  ///< other than 0
  signal,     ///< ended by one
  timeout,
  not_started,  ///< the program, that is
  no_result,    ///< ended well, but what was to be collected is not there
  failed,       ///< the script, at run time
  stuck,        ///< the script: variables were never assigned
  interrupted,  ///< a task that ran when the run, or its point, ended, and was ended with it
};
std::string_view name_of(PointOutcome outcome);
/// Neither ok nor interrupted.
bool has_failed(PointOutcome outcome);

struct RunRow {
  std::string id;
  std::string kind;     ///< what was typed: "sweep", ...
  std::string command;  ///< the words of the command line, each ended by a zero byte
  double started = 0;   ///< seconds since 1970
  double ended = 0;     ///< 0: has no end
  RunState state = RunState::running;
  std::uint64_t points = 0;  ///< at most so many; what a filter leaves is known at the end only
  std::uint64_t taken = 0;   ///< points that an earlier run had done
  std::uint64_t ok = 0, failed = 0;
  std::string resumes;     ///< id of another run, or ""
  std::string collect;     ///< how results are made: those of runs with equal texts can stand in one table
  std::string columns;     ///< of blocks: `float energy`, each ended by a zero byte
  std::uint64_t work = 0;  ///< what is done at each point, as a hash: only runs of equal work have points in common

  std::vector<std::string> words() const;         ///< of `command`
  std::vector<std::string> column_words() const;  ///< of `columns`
};

/// What came of doing the work of a point once.
struct Attempt {
  PointOutcome outcome = PointOutcome::ok;
  double started = 0;  ///< seconds since 1970
  double duration_s = 0;
  int exit_code = 0;
  int signal = 0;
  std::uint32_t worker = 0;  ///< which of the workers, or of the programs run at once, from 1; 0: unknown
  /// JSON object: of each file that it reads what names its content, see file_version(); of each that it has written
  /// output_mark(); "": none.
  std::string inputs;
  std::string detail;                              ///< why it was not started, has no result, or has failed
  std::string results;                             ///< JSON object
  std::string stdout_end, stderr_end;              ///< as much as is kept
  std::uint64_t stdout_size = 0, stderr_size = 0;  ///< of all that was printed
  std::int64_t row_digest = 0;  ///< of its row, by which a run refers to it that takes it; 0: it was not read from one
};

/// One attempt at one point, or at one task: a program or a call of a `@memo` function, of a script.
struct PointRow {
  std::uint64_t number = 0;  ///< of a point in the order of the sweep, of a task as they began; from 1
  PointKey key;              ///< of a point; nobody asks for tasks by what they are
  std::uint32_t attempt_number = 1;
  bool is_last = true;     ///< no further attempt follows
  std::string parameters;  ///< JSON object
  Attempt attempt;
  std::uint64_t point = 0;          ///< of a sweep, whose task it is; 0: of none
  std::uint32_t point_attempt = 0;  ///< at this point
  PointClaim claim = nullptr;       ///< is kept until the row is written
};

/// Points that were done together and have all ended well, in columns: some bytes for each, where a PointRow has
/// hundreds.
struct BlockRow {
  std::uint64_t first = 0, last = 0;   ///< the smallest and the largest number
  std::vector<std::uint64_t> numbers;  ///< empty: first, first + 1, ..., last
  std::vector<std::uint64_t> keys;     ///< PointKey::low of each
  /// Results, column by column: for each point 8 bytes, an int64_t or a double.
  std::vector<std::vector<std::int64_t>> columns;
  double started = 0;          ///< seconds since 1970
  double duration_s = 0;       ///< of all of them, one after the other
  std::uint32_t worker = 0;    ///< as in Attempt
  PointClaim claim = nullptr;  ///< as in PointRow

  std::uint64_t number(std::size_t index) const { return numbers.empty() ? first + index : numbers[index]; }
};

/// What a device has done at one time: points of a loop, or calls, or copies for these. Where there are very many, one
/// row is several.
struct DeviceRow {
  /// Instead of a device's number: the memory of the process, where `--memory` limits it. Its host is the file.
  static constexpr std::uint32_t own_memory = ~0u;
  std::uint32_t device = 0;        ///< its number in the run
  std::string name;                ///< of the device
  std::uint64_t memory_bytes = 0;  ///< that it has; 0: not known, as in records up to format 8
  std::uint32_t lane = 0;          ///< DeviceLane
  double started = 0;              ///< seconds since 1970
  double duration_s = 0;
  std::uint64_t computed = 0;  ///< points or calls
  std::uint64_t bytes = 0;     ///< that were copied
  std::uint64_t held = 0;      ///< bytes of its memory that were taken then
  std::string function;        ///< of the script
  std::string place;           ///< `model.df:12:3`, of the loop or call; "": it has none
};

/// What is compared of the last attempt at a point that was done by itself.
struct PointHead {
  std::uint64_t number = 0;
  PointKey key;
  PointOutcome outcome = PointOutcome::ok;
};

/// Where a block lies in the record.
struct BlockHead {
  std::int64_t row = 0;
  std::uint64_t first = 0, last = 0;
  bool is_of_first_run = false;  ///< the run that was asked for
};

/// Tasks of a sweep's points, each counted once however often it was tried.
struct TaskCounts {
  std::uint64_t all = 0, ok = 0, failed = 0;  ///< all: with those that were interrupted
};

/// Which rows of points a run stands on.
struct StandsOn {
  std::string run = {};  ///< "": of none
  double ended = 0;      ///< what has ended later it can not have taken; 0: it has no end
  std::vector<std::int64_t> taken =
      {};  ///< Attempt::row_digest of points of other runs, sorted. Records up to format 5: none
  bool has_taken(const Attempt& attempt) const;
};

/// What an earlier run has of a point.
struct EarlierResult {
  std::string collect;  ///< of its run
  Attempt attempt;
  bool is_of_run = false;  ///< find_latest(): that run has done or taken it
};

/// A reader of the record; one thread. Every function throws RecordError where the file can not be read.
class RunRecord {
 public:
  /// @return nothing if this folder has no record
  static std::optional<RunRecord> open();
  /// Makes the record where there is none. @throws RecordError
  /// @param wait  how long others that hold it locked are waited for, now and later
  static RunRecord create(std::chrono::milliseconds wait = longest_wait);

  /// All runs, the oldest first.
  std::vector<RunRow> runs();
  /// Those whose id begins or ends with `text`; "" means the latest.
  std::vector<RunRow> find(std::string_view text);
  /// Attempts at points that were done by themselves, in the order of their ends. @param visit  returns false to end it
  void for_each_point(const std::string& run, const std::function<bool(const PointRow&)>& visit);
  /// Those at one point.
  void for_each_attempt(const std::string& run, std::uint64_t number,
                        const std::function<bool(const PointRow&)>& visit);
  /// Whether points of a sweep have tasks.
  bool has_tasks(const std::string& run);
  TaskCounts count_tasks(const std::string& run);
  /// Tasks of a sweep's points, those of each in the order of their ends. @param point  of this one only
  void for_each_task(const std::string& run, std::optional<std::uint64_t> point,
                     const std::function<bool(const PointRow&)>& visit);
  /// Of these the tasks of an attempt that has no row: it was killed, or still runs.
  void for_each_unended_task(const std::string& run, std::optional<std::uint64_t> point,
                             const std::function<bool(const PointRow&)>& visit);
  /// What devices have done, by device and lane, each in the order of its starts.
  std::vector<DeviceRow> device_rows(const std::string& run);
  /// Number, key and outcome of each attempt at a point that was done by itself, in any order.
  std::vector<PointHead> point_heads(const std::string& run);
  /// Points whose last attempt failed, by their numbers.
  std::vector<PointRow> failed_points(const std::string& run);
  /// Any point of the run that was done by itself, in the same way.
  std::optional<PointRow> any_point(const std::string& run);
  using Fits = std::function<bool(const Attempt&)>;
  /// The latest attempt that ended well and fits. @param since  not in runs that began before this one; "": in any
  std::optional<EarlierResult> find_done(const PointKey& key, const std::string& since, const Fits& fits);
  /// PointKey::low of the points of this work that were done by themselves, sorted.
  std::vector<std::uint64_t> done_keys(std::uint64_t work, const std::string& since);
  /// Of all points of this work that were done by themselves, sorted by PointKey::low.
  std::vector<PointKey> point_keys(std::uint64_t work);
  StandsOn stands_on(const std::string& run);
  /// The latest that ended well, else the latest. Those of the run itself go before what it has taken, and this before
  /// what had ended when it did; of that go first those that fit. A damaged index hides none.
  std::optional<EarlierResult> find_latest(const PointKey& key, const StandsOn& of, const Fits& fits);
  /// Has any run of this work a point? For whether looking for points is worth it.
  bool has_points(std::uint64_t work);
  /// How long points of this work took that were done by themselves and ended well: the mean of some. 0: there are
  /// none.
  double mean_duration_s(std::uint64_t work);
  /// The blocks of all runs of this work, those of the run `first` before others, then the latest first.
  std::vector<BlockHead> blocks(std::uint64_t work, const std::string& first, const std::string& since);
  /// Of one run, the earliest first.
  std::vector<BlockHead> blocks_of(const std::string& run);
  std::vector<std::uint64_t> block_keys(std::int64_t row);
  BlockRow block(std::int64_t row);
  /// Runs `reads` with the record as it is now, which makes many small ones twice as fast. Meanwhile the write-ahead
  /// log can not be shortened: for when this process writes nothing.
  void read_together(const std::function<void()>& reads);
  /// Removes a run with its points, unless a run that is going on counts on them: the run itself, one of the same work,
  /// or one that goes on with it. @return the id of that, or "" if it is removed
  std::string remove(const RunRow& run);

 private:
  std::string running_with(const RunRow& run);
  std::optional<EarlierResult> find_latest(const PointKey& key, std::int64_t lost_row, const StandsOn& of,
                                           const Fits& fits);
  friend class Recorder;
  RunRecord();
  std::unique_ptr<Database> database_;
  std::optional<Statement> find_done_, find_latest_, block_keys_;
  std::optional<LostPoints> lost_points_;  ///< read when a point is missing first
};

}  // namespace raddle::vm
