#include "vm/record/recorder.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <utility>

#include "vm/record/process_identity.hpp"
#include "vm/record/record_format.hpp"
#include "vm/value/standard_error.hpp"

namespace raddle::vm {
namespace {

constexpr std::size_t block_size = 2'000;      // rows that are written at once without waiting for more
constexpr std::size_t waiting_limit = 50'000;  // rows in memory
constexpr std::size_t block_limit = 16;        // blocks in memory

// Other raddles hold the record locked for milliseconds. Once it is known to be locked for longer, it is only looked
// at.
constexpr std::chrono::milliseconds usual_wait(1000), short_wait(10);
constexpr std::chrono::seconds told_after(4);
constexpr std::chrono::milliseconds pause_of_mover(100);

std::chrono::nanoseconds processor_time_of_thread() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

/// Sorts by time, can be read aloud: `261121-150412-k7`.
std::string make_id() {
  constexpr std::string_view digits = "0123456789abcdefghjkmnpqrstvwxyz";
  std::random_device random;
  const std::time_t now = std::time(nullptr);
  return fmt::format("{:%y%m%d-%H%M%S}-{}{}", fmt::gmtime(now), digits[random() % digits.size()],
                     digits[random() % digits.size()]);
}

bool has_run(Database& database, const std::string& id) {
  return Statement(database, "SELECT 1 FROM main.run WHERE id = ?").bind(1, id).step();
}

std::string lock_text(std::string_view consequence) {
  return fmt::format("another process holds the record `{}` locked: {}", record_path, consequence);
}

}  // namespace

std::chrono::nanoseconds pause_after_commit(std::chrono::nanoseconds cost) {
  return std::min<std::chrono::nanoseconds>(200 * cost, std::chrono::milliseconds(50));
}

Recorder::Recorder(RunRow run) : run_(std::move(run)), record_(RunRecord::create()) {
  Database& database = *record_.database_;
  const ProcessIdentity process = own_identity();
  Transaction transaction(database);
  do run_.id = make_id();
  while (has_run(database, run_.id));  // nobody else can add one meanwhile
  Statement insert(
      database,
      "INSERT INTO main.run (id, kind, command, started, state, points, taken, ok, failed, resumes, collect, pid, "
      "start_ticks, boot, work, columns) VALUES (?, ?, ?, ?, ?, ?, ?, 0, 0, ?, ?, ?, ?, ?, ?, ?)");
  insert.bind(1, run_.id).bind(2, run_.kind).bind_bytes(3, run_.command).bind(4, run_.started);
  insert.bind(5, static_cast<std::int64_t>(RunState::running))
      .bind(6, as_stored(run_.points))
      .bind(7, as_stored(run_.taken));
  insert.bind(8, run_.resumes).bind(9, run_.collect);
  insert.bind(10, process.pid).bind(11, process.start_ticks).bind(12, process.boot);
  insert.bind(13, as_stored(run_.work)).bind_bytes(14, run_.columns).run();
  run_row_ = database.last_row();
  Statement(database, seal_run).bind(1, run_row_).run();
  transaction.commit();
  writer_.emplace(database, run_row_);
  database.wait_for_others(usual_wait);
  thread_ = std::thread([this] { work(); });
}

Recorder::~Recorder() { stop(); }

void Recorder::stop() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  arrived_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Recorder::add(PointRow row) {
  std::unique_lock lock(mutex_);
  written_.wait(lock, [&] { return waiting_.size() < waiting_limit || has_failed(); });
  waiting_.push_back(std::move(row));
  if (waiting_.size() == 1 || waiting_.size() == block_size) arrived_.notify_one();
}

void Recorder::add(BlockRow block) {
  std::unique_lock lock(mutex_);
  written_.wait(lock, [&] { return waiting_blocks_.size() < block_limit || has_failed(); });
  waiting_blocks_.push_back(std::move(block));
  arrived_.notify_one();
}

void Recorder::wait_until_written() {
  std::unique_lock lock(mutex_);
  written_.wait(lock, [&] { return waiting_.empty() && waiting_blocks_.empty() && !is_writing_; });
}

void Recorder::work() {
  std::vector<PointRow> rows;
  std::vector<BlockRow> blocks;
  std::unique_lock lock(mutex_);
  const auto is_empty = [&] { return waiting_.empty() && waiting_blocks_.empty(); };
  Clock::time_point next_commit = Clock::now();
  for (;;) {
    const auto has_work = [&] { return ending_ || !is_empty(); };
    while (spilled_ && !has_failed() && !arrived_.wait_for(lock, pause_of_mover, has_work)) {
      lock.unlock();
      std::string error;
      try {
        try_to_move_spilled();
      } catch (const RecordError& failure) {
        error = failure.what();
      }
      lock.lock();
      if (!error.empty()) fail(std::move(error));
    }
    arrived_.wait(lock, has_work);
    arrived_.wait_until(lock, next_commit, [&] {
      return ending_ || waiting_.size() >= block_size || waiting_blocks_.size() >= block_limit / 2;
    });
    if (is_empty()) return;  // it ends
    rows.swap(waiting_);
    blocks.swap(waiting_blocks_);
    is_writing_ = true;
    written_.notify_all();
    lock.unlock();
    std::string error;
    try {
      if (!has_failed()) next_commit = write(rows, blocks);
    } catch (const RecordError& failure) {
      error = failure.what();
    }
    if (!error.empty() || has_failed()) count(unwritten_, rows, blocks);
    rows.clear();
    blocks.clear();
    lock.lock();
    is_writing_ = false;
    written_.notify_all();
    if (!error.empty()) fail(std::move(error));
  }
}

void Recorder::fail(std::string error) {
  error_ = std::move(error);
  count_spilled_as_unwritten();
  has_failed_.store(true, std::memory_order_release);
  written_.notify_all();
}

Recorder::Clock::time_point Recorder::write(const std::vector<PointRow>& rows, const std::vector<BlockRow>& blocks) {
  const std::chrono::nanoseconds begin = processor_time_of_thread();
  try {
    if (spilled_) move_spilled();
    writer_->write(rows, blocks);
  } catch (const RecordBusy&) {
    spill(rows, blocks);
  }
  return Clock::now() + pause_after_commit(processor_time_of_thread() - begin);
}

void Recorder::spill(const std::vector<PointRow>& rows, const std::vector<BlockRow>& blocks) {
  if (!spilled_) {
    spilled_.emplace(run_.id, run_row_);
    locked_since_ = Clock::now() - usual_wait;
    record_.database_->wait_for_others(short_wait);
  }
  spilled_->write(rows, blocks);
  count(spilled_points_, rows, blocks);
  for (const PointRow& row : rows)
    if (row.claim) spilled_claims_.push_back(row.claim);
  for (const BlockRow& block : blocks)
    if (block.claim) spilled_claims_.push_back(block.claim);
  tell_of_lock();
}

void Recorder::move_spilled() {
  spilled_->move_into(*record_.database_);
  spilled_.reset();
  spilled_claims_.clear();
  spilled_points_ = {};
  record_.database_->wait_for_others(usual_wait);
}

void Recorder::try_to_move_spilled() {
  try {
    move_spilled();
  } catch (const RecordBusy&) {
    tell_of_lock();
  }
}

void Recorder::tell_of_lock() {
  if (is_lock_told_ || Clock::now() < locked_since_ + told_after) return;
  print_stderr("raddle: {}\n", lock_text("nothing is lost, and written when it lets go"));
  is_lock_told_ = true;
}

void Recorder::count(Unwritten& points, const std::vector<PointRow>& rows, const std::vector<BlockRow>& blocks) {
  for (const PointRow& row : rows)
    if (row.is_last && row.point == 0) ++(row.attempt.outcome == PointOutcome::ok ? points.ok : points.failed);
  for (const BlockRow& block : blocks) points.ok += block.keys.size();
}

void Recorder::count_spilled_as_unwritten() {
  unwritten_.ok += std::exchange(spilled_points_.ok, 0);
  unwritten_.failed += std::exchange(spilled_points_.failed, 0);
}

void Recorder::insert(const std::vector<DeviceRow>& devices) {
  if (devices.empty()) return;
  Statement insert(*record_.database_,
                   fmt::format("INSERT INTO main.device (digest, {0}) SELECT digest({0}), {0} FROM (SELECT ? AS run, ? "
                               "AS device, ? AS name, ? AS started, ? AS duration_s, ? AS computed, ? AS function, ? "
                               "AS place, ? AS lane, ? AS bytes, ? AS held, ? AS memory)",
                               device_columns));
  for (const DeviceRow& row : devices) {
    insert.bind(1, run_row_).bind(2, std::int64_t{row.device}).bind(3, row.name).bind(4, row.started);
    insert.bind(5, row.duration_s).bind(6, as_stored(row.computed)).bind(7, row.function).bind(8, row.place);
    insert.bind(9, std::int64_t{row.lane}).bind(10, as_stored(row.bytes)).bind(11, as_stored(row.held));
    insert.bind(12, as_stored(row.memory_bytes)).run();
  }
}

void Recorder::write_end(const RunRow& run, const std::vector<std::int64_t>& taken,
                         const std::vector<DeviceRow>& devices) {
  Database& database = *record_.database_;
  if (spilled_) move_spilled();
  Transaction transaction(database);
  Statement update(database,
                   "UPDATE main.run SET ended = ?, state = ?, points = ?, taken = ?, ok = ?, failed = ? WHERE row = ?");
  update.bind(1, run.ended).bind(2, static_cast<std::int64_t>(run.state)).bind(3, as_stored(run.points));
  update.bind(4, as_stored(run.taken))
      .bind(5, as_stored(run.ok))
      .bind(6, as_stored(run.failed))
      .bind(7, run_row_)
      .run();
  Statement(database, seal_run).bind(1, run_row_).run();
  if (!taken.empty()) {
    Statement insert(database, fmt::format("INSERT INTO main.taken (digest, {0}) SELECT digest({0}), {0} FROM "
                                           "(SELECT ? AS run, ? AS rows)",
                                           taken_columns));
    insert.bind(1, run_row_)
        .bind_bytes(2, {reinterpret_cast<const char*>(taken.data()), taken.size() * sizeof(std::int64_t)})
        .run();
  }
  insert(devices);
  transaction.commit();
}

std::expected<void, std::string> Recorder::end(const RunRow& run, std::vector<std::int64_t> taken,
                                               const std::vector<DeviceRow>& devices) {
  stop();
  std::ranges::sort(taken);
  if (has_failed()) return std::unexpected(error_);
  if (!spilled_) locked_since_ = Clock::now();
  for (;;) {
    try {
      write_end(run, taken, devices);
      return {};
    } catch (const RecordBusy&) {
      has_given_up_ = gives_up_.load(std::memory_order_relaxed);
      if (has_given_up_) return std::unexpected(lock_text("it was not waited for; what has ended is kept"));
      tell_of_lock();
    } catch (const RecordError& failure) {
      count_spilled_as_unwritten();
      return std::unexpected(failure.what());
    }
  }
}

}  // namespace raddle::vm
