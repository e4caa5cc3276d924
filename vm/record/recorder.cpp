#include "vm/record/recorder.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <random>

#include "vm/record/process_identity.hpp"

namespace raddle::vm {
namespace {

constexpr auto gathering_time = std::chrono::milliseconds(50);
constexpr std::size_t batch_size = 2'000;      // rows that are written at once without waiting for more
constexpr std::size_t waiting_limit = 50'000;  // rows in memory

/// Sorts by time, can be read aloud: `261121-150412-k7`.
std::string make_id() {
  constexpr std::string_view digits = "0123456789abcdefghjkmnpqrstvwxyz";
  std::random_device random;
  const std::time_t now = std::time(nullptr);
  return fmt::format("{:%y%m%d-%H%M%S}-{}{}", fmt::gmtime(now), digits[random() % digits.size()],
                     digits[random() % digits.size()]);
}

bool has_run(Database& database, const std::string& id) {
  return Statement(database, "SELECT 1 FROM run WHERE id = ?").bind(1, id).step();
}

std::int64_t number(std::uint64_t value) { return static_cast<std::int64_t>(value); }

}  // namespace

Recorder::Recorder(RunRow run) : run_(std::move(run)), record_(RunRecord::create()) {
  Database& database = *record_.database_;
  const ProcessIdentity process = own_identity();
  Transaction transaction(database);
  do run_.id = make_id();
  while (has_run(database, run_.id));  // nobody else can add one meanwhile
  Statement insert(
      database,
      "INSERT INTO run (id, kind, command, started, state, points, taken, ok, failed, resumes, collect, pid, "
      "start_ticks, boot) VALUES (?, ?, ?, ?, ?, ?, ?, 0, 0, ?, ?, ?, ?, ?)");
  insert.bind(1, run_.id).bind(2, run_.kind).bind_bytes(3, run_.command).bind(4, run_.started);
  insert.bind(5, static_cast<std::int64_t>(RunState::running)).bind(6, number(run_.points)).bind(7, number(run_.taken));
  insert.bind(8, run_.resumes).bind(9, run_.collect);
  insert.bind(10, process.pid).bind(11, process.start_ticks).bind(12, process.boot).run();
  run_row_ = database.last_row();
  transaction.commit();
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
  if (waiting_.size() == 1 || waiting_.size() == batch_size) arrived_.notify_one();
}

void Recorder::work() {
  std::vector<PointRow> rows;
  std::unique_lock lock(mutex_);
  for (;;) {
    arrived_.wait(lock, [&] { return ending_ || !waiting_.empty(); });
    arrived_.wait_for(lock, gathering_time, [&] { return ending_ || waiting_.size() >= batch_size; });
    if (waiting_.empty()) return;  // it ends
    rows.swap(waiting_);
    written_.notify_all();
    lock.unlock();
    std::string error;
    try {
      if (!has_failed()) write(rows);
    } catch (const RecordError& failure) {
      error = failure.what();
    }
    rows.clear();
    lock.lock();
    if (error.empty()) continue;
    error_ = std::move(error);
    has_failed_.store(true, std::memory_order_release);
    written_.notify_all();
  }
}

void Recorder::write(const std::vector<PointRow>& rows) {
  Database& database = *record_.database_;
  Transaction transaction(database);
  Statement insert(
      database,
      "INSERT INTO point (run, number, key, attempt, is_last, outcome, started, duration_s, exit_code, "
      "signal, detail, parameters, results, stdout_end, stderr_end, stdout_size, stderr_size) VALUES (?, ?, "
      "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  for (const PointRow& row : rows) {
    insert.bind(1, run_row_)
        .bind(2, number(row.number))
        .bind_bytes(3, row.key.bytes())
        .bind(4, std::int64_t{row.attempt});
    insert.bind(5, std::int64_t{row.is_last}).bind(6, static_cast<std::int64_t>(row.outcome)).bind(7, row.started);
    insert.bind(8, row.duration_s).bind(9, std::int64_t{row.exit_code}).bind(10, std::int64_t{row.signal});
    insert.bind(11, row.detail).bind(12, row.parameters).bind(13, row.results);
    insert.bind_bytes(14, row.stdout_end).bind_bytes(15, row.stderr_end);
    insert.bind(16, number(row.stdout_size)).bind(17, number(row.stderr_size)).run();
  }
  transaction.commit();
}

std::expected<void, std::string> Recorder::end(const RunRow& run) {
  stop();
  try {
    if (has_failed()) return std::unexpected(error_);
    Database& database = *record_.database_;
    Transaction transaction(database);
    Statement update(database,
                     "UPDATE run SET ended = ?, state = ?, points = ?, taken = ?, ok = ?, failed = ? WHERE row = ?");
    update.bind(1, run.ended).bind(2, static_cast<std::int64_t>(run.state)).bind(3, number(run.points));
    update.bind(4, number(run.taken)).bind(5, number(run.ok)).bind(6, number(run.failed)).bind(7, run_row_).run();
    transaction.commit();
  } catch (const RecordError& failure) {
    return std::unexpected(failure.what());
  }
  return {};
}

}  // namespace raddle::vm
