#include "vm/record/run_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "vm/record/record_folder.hpp"
#include "vm/record/record_format.hpp"
#include "vm/record/record_rows.hpp"
#include "vm/record/spilled_rows.hpp"

namespace raddle::vm {
namespace {

// Two columns: how many outcomes are ok, how many has_failed().
constexpr const char* ok_and_failed = "coalesce(sum(outcome = 0), 0), coalesce(sum(outcome NOT IN (0, 8)), 0)";
static_assert(static_cast<int>(PointOutcome::ok) == 0 && static_cast<int>(PointOutcome::interrupted) == 8);

// A damaged index leads to other rows than those that are asked for: what it was asked for (`key = ?`) is compared with
// the row itself (`+key = ?`), too.
constexpr const char* join_run = "JOIN run ON run.row = attempt.run AND run.row = +attempt.run";
constexpr const char* of_run = "run.id = ?1 AND +run.id = ?1";

// What a run that was killed could not count.
void count_points(Database& database, RunRow& run) {
  Statement count(database,
                  fmt::format("SELECT {}, max(attempt.started + duration_s) FROM point AS attempt {} WHERE {} "
                              "AND is_last",
                              ok_and_failed, join_run, of_run));
  Statement count_blocks(
      database, fmt::format("SELECT sum(count), max(attempt.started + duration_s) FROM block AS attempt {} WHERE {}",
                            join_run, of_run));
  if (!count.bind(1, run.id).step() || !count_blocks.bind(1, run.id).step()) return;
  run.ok = static_cast<std::uint64_t>(count.integer(0) + count_blocks.integer(0));
  run.failed = static_cast<std::uint64_t>(count.integer(1));
  if (run.state == RunState::killed) run.ended = std::max(count.real(2), count_blocks.real(1));
}

std::string is_content_intact() { return fmt::format("is_intact(content_digest, {})", block_content); }

constexpr const char* attempt_query =
    "SELECT number, attempt, is_last, parameters, key, {} FROM point AS attempt {} WHERE {} {} ORDER BY attempt.rowid";

void visit_attempts(Statement& rows, const std::function<bool(const PointRow&)>& visit) {
  while (rows.step())
    if (!visit(row_of(rows))) return;
}

/// The order is that of the index: nothing is sorted.
constexpr const char* task_query =
    "SELECT number, attempt, is_last, parameters, key, {}, attempt.point, point_attempt FROM task AS attempt {} WHERE "
    "{} {} {} ORDER BY attempt.point, attempt.rowid";

constexpr const char* is_unended =
    "AND NOT EXISTS (SELECT 1 FROM point WHERE point.run = attempt.run AND point.number = attempt.point AND "
    "point.attempt = attempt.point_attempt)";

void visit_tasks(Database& database, const std::string& run, std::optional<std::uint64_t> point, const char* condition,
                 const std::function<bool(const PointRow&)>& visit) {
  Statement rows(database, fmt::format(task_query, attempt_columns, join_run, of_run,
                                       point ? "AND attempt.point = ?2 AND +attempt.point = ?2" : "", condition));
  rows.bind(1, run);
  if (point) rows.bind(2, static_cast<std::int64_t>(*point));
  while (rows.step()) {
    PointRow row = row_of(rows);
    row.point = static_cast<std::uint64_t>(rows.integer(5 + attempt_width));
    row.point_attempt = static_cast<std::uint32_t>(rows.integer(6 + attempt_width));
    if (!visit(row)) return;
  }
}

/// ?2: a run's id; runs have rising rows. One that is not there, as it was removed, excludes none.
constexpr const char* since_condition = "AND run.row >= coalesce((SELECT row FROM run WHERE id = ?2), 0)";

std::string result_query(const char* where, const char* condition, const char* order) {
  return fmt::format("SELECT run.id, collect, {} FROM point AS attempt {} WHERE {} {} ORDER BY {}", attempt_columns,
                     join_run, where, condition, order);
}

constexpr const char* of_key = "key = ?1 AND +key = ?1";
constexpr const char* of_key_or_row = "(key = ?1 OR attempt.rowid = ?3) AND +key = ?1";

constexpr const char* point_query = "SELECT number, key, parameters FROM point AS attempt {} WHERE {} {}";

EarlierResult take_result(const Statement& query) {
  return {.collect = query.text(1), .attempt = take_attempt(query, 2)};
}

}  // namespace

RunRecord::RunRecord() : database_(std::make_unique<Database>(record_path)) {}

std::optional<RunRecord> RunRecord::open() {
  std::error_code code;
  if (!std::filesystem::exists(record_path, code)) return std::nullopt;
  RunRecord record;
  if (format_of(*record.database_) == 0) return std::nullopt;  // somebody is about to make it
  open_tables(*record.database_);
  if (!record.database_->is_read_only()) take_in_spilled_rows(*record.database_);
  return record;
}

RunRecord RunRecord::create(std::chrono::milliseconds wait) {
  make_record_folder();
  RunRecord record;
  record.database_->wait_for_others(wait);
  use_write_ahead_log(*record.database_);
  make_or_open_tables(*record.database_);
  take_in_spilled_rows(*record.database_);
  return record;
}

std::vector<RunRow> RunRecord::runs() {
  std::vector<RunRow> all;
  Statement rows(*database_, fmt::format("SELECT {} FROM run ORDER BY row", run_columns));
  while (rows.step()) all.push_back(run_row(rows));
  for (RunRow& run : all)
    if (run.state == RunState::killed || run.state == RunState::running) count_points(*database_, run);
  return all;
}

std::vector<RunRow> RunRecord::find(std::string_view text) {
  std::vector<RunRow> all = runs();
  if (text.empty()) return all.empty() ? all : std::vector<RunRow>{all.back()};
  std::erase_if(all, [&](const RunRow& run) { return !run.id.starts_with(text) && !run.id.ends_with(text); });
  return all;
}

void RunRecord::for_each_point(const std::string& run, const std::function<bool(const PointRow&)>& visit) {
  Statement rows(*database_, fmt::format(attempt_query, attempt_columns, join_run, of_run, ""));
  visit_attempts(rows.bind(1, run), visit);
}

void RunRecord::for_each_attempt(const std::string& run, std::uint64_t number,
                                 const std::function<bool(const PointRow&)>& visit) {
  Statement rows(*database_,
                 fmt::format(attempt_query, attempt_columns, join_run, of_run, "AND number = ?2 AND +number = ?2"));
  visit_attempts(rows.bind(1, run).bind(2, static_cast<std::int64_t>(number)), visit);
}

bool RunRecord::has_tasks(const std::string& run) {
  Statement query(*database_, fmt::format("SELECT 1 FROM task AS attempt {} WHERE {} LIMIT 1", join_run, of_run));
  return query.bind(1, run).step();
}

TaskCounts RunRecord::count_tasks(const std::string& run) {
  Statement query(*database_, fmt::format("SELECT count(*), {} FROM task AS attempt {} WHERE {} AND is_last",
                                          ok_and_failed, join_run, of_run));
  if (!query.bind(1, run).step()) return {};
  const auto column = [&](int i) { return static_cast<std::uint64_t>(query.integer(i)); };
  return {.all = column(0), .ok = column(1), .failed = column(2)};
}

void RunRecord::for_each_task(const std::string& run, std::optional<std::uint64_t> point,
                              const std::function<bool(const PointRow&)>& visit) {
  visit_tasks(*database_, run, point, "", visit);
}

void RunRecord::for_each_unended_task(const std::string& run, std::optional<std::uint64_t> point,
                                      const std::function<bool(const PointRow&)>& visit) {
  visit_tasks(*database_, run, point, is_unended, visit);
}

std::vector<DeviceRow> RunRecord::device_rows(const std::string& run) {
  std::vector<DeviceRow> devices;
  Statement rows(
      *database_,
      fmt::format("SELECT device, name, attempt.started, duration_s, computed, function, place, lane, bytes, "
                  "held, memory FROM device AS attempt {} WHERE {} ORDER BY device, lane, attempt.started",
                  join_run, of_run));
  rows.bind(1, run);
  while (rows.step())
    devices.push_back({.device = static_cast<std::uint32_t>(rows.integer(0)),
                       .name = rows.text(1),
                       .memory_bytes = static_cast<std::uint64_t>(rows.integer(10)),
                       .lane = static_cast<std::uint32_t>(rows.integer(7)),
                       .started = rows.real(2),
                       .duration_s = rows.real(3),
                       .computed = static_cast<std::uint64_t>(rows.integer(4)),
                       .bytes = static_cast<std::uint64_t>(rows.integer(8)),
                       .held = static_cast<std::uint64_t>(rows.integer(9)),
                       .function = rows.text(5),
                       .place = rows.text(6)});
  return devices;
}

std::vector<PointHead> RunRecord::point_heads(const std::string& run) {
  std::vector<PointHead> heads;
  Statement rows(*database_, fmt::format("SELECT number, key, outcome FROM point AS attempt {} WHERE {} AND is_last",
                                         join_run, of_run));
  rows.bind(1, run);
  while (rows.step())
    heads.push_back({.number = static_cast<std::uint64_t>(rows.integer(0)),
                     .key = PointKey::of_bytes(rows.text(1)),
                     .outcome = static_cast<PointOutcome>(rows.integer(2))});
  return heads;
}

std::vector<PointRow> RunRecord::failed_points(const std::string& run) {
  std::vector<PointRow> failed;
  Statement rows(*database_,
                 fmt::format(point_query, join_run, of_run, "AND is_last AND outcome <> 0 ORDER BY number"));
  rows.bind(1, run);
  while (rows.step()) failed.push_back(take_point(rows));
  return failed;
}

std::optional<PointRow> RunRecord::any_point(const std::string& run) {
  Statement rows(*database_, fmt::format(point_query, join_run, of_run, "LIMIT 1"));
  rows.bind(1, run);
  if (!rows.step()) return std::nullopt;
  return take_point(rows);
}

std::optional<EarlierResult> RunRecord::find_done(const PointKey& key, const std::string& since, const Fits& fits) {
  if (!find_done_)
    find_done_.emplace(*database_, result_query(of_key, fmt::format("AND outcome = 0 {}", since_condition).c_str(),
                                                "attempt.rowid DESC"));
  find_done_->bind_bytes(1, key.bytes()).bind(2, since);
  std::optional<EarlierResult> found;
  while (!found && find_done_->step())
    if (EarlierResult each = take_result(*find_done_); fits(each.attempt)) found = std::move(each);
  find_done_->reset();  // an open read would keep the log from being shortened
  return found;
}

std::vector<std::uint64_t> RunRecord::done_keys(std::uint64_t work, const std::string& since) {
  Statement rows(*database_, fmt::format("SELECT key FROM point AS attempt {} WHERE work = ?1 AND outcome = 0 {}",
                                         join_run, since_condition));
  rows.bind(1, static_cast<std::int64_t>(work)).bind(2, since);
  std::vector<std::uint64_t> keys;
  while (rows.step()) keys.push_back(PointKey::of_bytes(rows.text(0)).low);
  std::ranges::sort(keys);
  return keys;
}

std::vector<PointKey> RunRecord::point_keys(std::uint64_t work) {
  Statement rows(*database_, fmt::format("SELECT key FROM point AS attempt {} WHERE work = ?", join_run));
  rows.bind(1, static_cast<std::int64_t>(work));
  std::vector<PointKey> keys;
  while (rows.step()) keys.push_back(PointKey::of_bytes(rows.text(0)));
  std::ranges::sort(keys, {}, &PointKey::low);
  return keys;
}

bool StandsOn::has_taken(const Attempt& attempt) const { return std::ranges::binary_search(taken, attempt.row_digest); }

StandsOn RunRecord::stands_on(const std::string& run) {
  StandsOn of{.run = run};
  Statement row(*database_, "SELECT ended, taken.rows FROM run LEFT JOIN taken ON taken.run = run.row WHERE id = ?");
  if (!row.bind(1, run).step()) return of;
  of.ended = row.real(0);
  of.taken = row.words<std::int64_t>(1);
  return of;
}

std::optional<EarlierResult> RunRecord::find_latest(const PointKey& key, const StandsOn& of, const Fits& fits) {
  std::optional<EarlierResult> found = find_latest(key, LostPoints::none, of, fits);
  if (found && found->is_of_run) return found;
  if (!lost_points_) lost_points_.emplace(*database_);
  const std::int64_t lost = lost_points_->row_of(key);
  return lost == LostPoints::none ? found : find_latest(key, lost, of, fits);
}

std::optional<EarlierResult> RunRecord::find_latest(const PointKey& key, std::int64_t lost_row, const StandsOn& of,
                                                    const Fits& fits) {
  if (!find_latest_)
    find_latest_.emplace(*database_, result_query(of_key_or_row, "", "run.id <> ?2, outcome <> 0, attempt.rowid DESC"));
  find_latest_->bind_bytes(1, key.bytes()).bind(2, of.run).bind(3, lost_row);
  std::optional<EarlierResult> found;
  for (bool has_fitting = false; find_latest_->step();) {
    EarlierResult each = take_result(*find_latest_);
    const Attempt& attempt = each.attempt;
    const bool is_it = each.is_of_run = find_latest_->text(0) == of.run || of.has_taken(attempt);
    const bool is_later = of.ended != 0 && attempt.started + attempt.duration_s > of.ended;
    const bool is_first_fitting = !is_it && !is_later && !has_fitting && fits(attempt);
    has_fitting |= is_first_fitting;
    if (is_it || is_first_fitting || (!found && !is_later)) found = std::move(each);
    if (is_it || (has_fitting && of.taken.empty())) break;
  }
  find_latest_->reset();
  return found;
}

bool RunRecord::has_points(std::uint64_t work) {
  for (const char* table : {"point", "block"}) {
    Statement query(*database_, fmt::format("SELECT 1 FROM {} AS attempt {} WHERE work = ? LIMIT 1", table, join_run));
    if (query.bind(1, static_cast<std::int64_t>(work)).step()) return true;
  }
  return false;
}

double RunRecord::mean_duration_s(std::uint64_t work) {
  Statement query(
      *database_,
      fmt::format("SELECT coalesce(avg(duration_s), 0) FROM (SELECT duration_s FROM point AS attempt {} WHERE work = ? "
                  "AND outcome = 0 LIMIT 1000)",
                  join_run));
  return query.bind(1, static_cast<std::int64_t>(work)).step() ? query.real(0) : 0;
}

std::vector<BlockHead> RunRecord::blocks(std::uint64_t work, const std::string& first, const std::string& since) {
  Statement query(*database_,
                  fmt::format("SELECT attempt.row, first, last, id = ?3 FROM block AS attempt {} WHERE work = ?1 {} "
                              "ORDER BY id <> ?3, attempt.row DESC",
                              join_run, since_condition));
  query.bind(1, static_cast<std::int64_t>(work)).bind(2, since).bind(3, first);
  return take_heads(query);
}

std::vector<BlockHead> RunRecord::blocks_of(const std::string& run) {
  Statement query(
      *database_,
      fmt::format("SELECT attempt.row, first, last, 1 FROM block AS attempt {} WHERE {} ORDER BY attempt.row", join_run,
                  of_run));
  query.bind(1, run);
  return take_heads(query);
}

std::vector<std::uint64_t> RunRecord::block_keys(std::int64_t row) {
  if (!block_keys_)  // with the results: what they are to be found by is of no use without them
    block_keys_.emplace(*database_, fmt::format("SELECT keys FROM block WHERE row = ? AND {}", is_content_intact()));
  std::vector<std::uint64_t> keys;
  if (block_keys_->bind(1, row).step()) keys = block_keys_->words<std::uint64_t>(0);
  block_keys_->reset();
  return keys;
}

BlockRow RunRecord::block(std::int64_t row) {
  Statement query(
      *database_,
      fmt::format("SELECT first, last, numbers, keys, columns, started, duration_s, worker FROM block WHERE "
                  "row = ? AND {}",
                  is_content_intact()));
  BlockRow block;
  if (!query.bind(1, row).step()) return block;
  block.first = static_cast<std::uint64_t>(query.integer(0));
  block.last = static_cast<std::uint64_t>(query.integer(1));
  block.numbers = query.words<std::uint64_t>(2);
  block.keys = query.words<std::uint64_t>(3);
  const std::vector<std::int64_t> words = query.words<std::int64_t>(4);
  const std::size_t count = block.keys.size();
  for (std::size_t begin = 0; count != 0 && begin + count <= words.size(); begin += count)
    block.columns.emplace_back(words.begin() + static_cast<std::ptrdiff_t>(begin),
                               words.begin() + static_cast<std::ptrdiff_t>(begin + count));
  block.started = query.real(5);
  block.duration_s = query.real(6);
  block.worker = static_cast<std::uint32_t>(query.integer(7));
  return block;
}

void RunRecord::read_together(const std::function<void()>& reads) {
  Transaction transaction(*database_, Transaction::Purpose::read);
  reads();
  transaction.commit();
}

/// A run that is going on and counts on the points of this one. "": there is none
std::string RunRecord::running_with(const RunRow& run) {
  Statement rows(*database_, fmt::format("SELECT {} FROM run WHERE state = 0", run_columns));
  static_assert(static_cast<int>(RunState::running) == 0);
  Statement origin(*database_, "SELECT resumes FROM run WHERE id = ?");
  while (rows.step()) {
    const RunRow other = run_row(rows);
    if (other.state != RunState::running) continue;
    if (other.id == run.id || (run.work != 0 && other.work == run.work)) return other.id;
    std::string earlier = other.resumes;
    for (std::set<std::string> seen; !earlier.empty() && seen.insert(earlier).second; origin.reset()) {
      if (earlier == run.id) return other.id;
      earlier = origin.bind(1, earlier).step() ? origin.text(0) : "";
    }
  }
  return "";
}

std::string RunRecord::remove(const RunRow& run) {
  Transaction transaction(*database_);  // one that begins now waits, and finds nothing of the run
  if (std::string running = running_with(run); !running.empty()) return running;
  for (const char* table : {"block", "point", "task", "taken", "device"})  // what is damaged, too
    Statement(*database_,
              fmt::format("DELETE FROM main.{} WHERE run IN (SELECT row FROM main.run WHERE id = ?)", table))
        .bind(1, run.id)
        .run();
  Statement(*database_, "DELETE FROM main.run WHERE id = ?").bind(1, run.id).run();
  transaction.commit();
  return "";
}

}  // namespace raddle::vm
