#include "vm/record/recorder.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <random>

#include "vm/record/process_identity.hpp"

namespace raddle::vm {
namespace {

constexpr std::size_t batch_size = 2'000;      // rows that are written at once without waiting for more
constexpr std::size_t waiting_limit = 50'000;  // rows in memory
constexpr std::size_t batch_limit = 16;        // batches in memory

std::chrono::nanoseconds processor_time_of_thread() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

/// `point` or `task`, what a task has besides.
constexpr const char* insert_row =
    "INSERT INTO {} (run, number, key, attempt, is_last, outcome, started, duration_s, exit_code, signal, detail, "
    "parameters, results, stdout_end, stderr_end, stdout_size, stderr_size, worker, inputs{}) VALUES "
    "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?{})";

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

template <typename Word>
std::string_view bytes_of(const std::vector<Word>& words) {
  return {reinterpret_cast<const char*>(words.data()), words.size() * sizeof(Word)};
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
      "INSERT INTO run (id, kind, command, started, state, points, taken, ok, failed, resumes, collect, pid, "
      "start_ticks, boot, work, columns) VALUES (?, ?, ?, ?, ?, ?, ?, 0, 0, ?, ?, ?, ?, ?, ?, ?)");
  insert.bind(1, run_.id).bind(2, run_.kind).bind_bytes(3, run_.command).bind(4, run_.started);
  insert.bind(5, static_cast<std::int64_t>(RunState::running)).bind(6, number(run_.points)).bind(7, number(run_.taken));
  insert.bind(8, run_.resumes).bind(9, run_.collect);
  insert.bind(10, process.pid).bind(11, process.start_ticks).bind(12, process.boot);
  insert.bind(13, number(run_.work)).bind_bytes(14, run_.columns).run();
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

void Recorder::add(BatchRow batch) {
  std::unique_lock lock(mutex_);
  written_.wait(lock, [&] { return waiting_batches_.size() < batch_limit || has_failed(); });
  waiting_batches_.push_back(std::move(batch));
  arrived_.notify_one();
}

void Recorder::work() {
  std::vector<PointRow> rows;
  std::vector<BatchRow> batches;
  std::unique_lock lock(mutex_);
  const auto is_empty = [&] { return waiting_.empty() && waiting_batches_.empty(); };
  Clock::time_point next_commit = Clock::now();
  for (;;) {
    arrived_.wait(lock, [&] { return ending_ || !is_empty(); });
    arrived_.wait_until(lock, next_commit, [&] {
      return ending_ || waiting_.size() >= batch_size || waiting_batches_.size() >= batch_limit / 2;
    });
    if (is_empty()) return;  // it ends
    rows.swap(waiting_);
    batches.swap(waiting_batches_);
    written_.notify_all();
    lock.unlock();
    std::string error;
    try {
      if (!has_failed()) next_commit = write(rows, batches);
    } catch (const RecordError& failure) {
      error = failure.what();
    }
    rows.clear();
    batches.clear();
    lock.lock();
    if (error.empty()) continue;
    error_ = std::move(error);
    has_failed_.store(true, std::memory_order_release);
    written_.notify_all();
  }
}

Recorder::Clock::time_point Recorder::write(const std::vector<PointRow>& rows, const std::vector<BatchRow>& batches) {
  const std::chrono::nanoseconds begin = processor_time_of_thread();
  Transaction transaction(*record_.database_);
  insert(rows);
  insert(batches);
  transaction.commit();
  return Clock::now() + pause_after_commit(processor_time_of_thread() - begin);
}

void Recorder::insert(const std::vector<PointRow>& rows) {
  for (const PointRow& row : rows) insert(row);
}

void Recorder::insert(const PointRow& row) {
  const bool is_task = row.point != 0;
  std::optional<Statement>& prepared = is_task ? insert_task_ : insert_point_;
  if (!prepared)
    prepared.emplace(*record_.database_, fmt::format(insert_row, is_task ? "task" : "point",
                                                     is_task ? ", point, point_attempt" : "", is_task ? ", ?, ?" : ""));
  Statement& insert = *prepared;
  const Attempt& attempt = row.attempt;
  insert.bind(1, run_row_).bind(2, number(row.number)).bind(4, std::int64_t{row.attempt_number});
  // tasks have no key: their rows lie in its index as they come, else each commit would write a page of it for each
  if (row.key == PointKey{})
    insert.bind_nothing(3);
  else
    insert.bind_bytes(3, row.key.bytes());
  insert.bind(5, std::int64_t{row.is_last}).bind(6, static_cast<std::int64_t>(attempt.outcome));
  insert.bind(7, attempt.started).bind(8, attempt.duration_s);
  insert.bind(9, std::int64_t{attempt.exit_code}).bind(10, std::int64_t{attempt.signal});
  insert.bind(11, attempt.detail).bind(12, row.parameters).bind(13, attempt.results);
  insert.bind_bytes(14, attempt.stdout_end).bind_bytes(15, attempt.stderr_end);
  insert.bind(16, number(attempt.stdout_size)).bind(17, number(attempt.stderr_size));
  insert.bind(18, std::int64_t{attempt.worker}).bind(19, attempt.inputs);
  if (is_task) insert.bind(20, number(row.point)).bind(21, std::int64_t{row.point_attempt});
  insert.run();
}

void Recorder::insert(const std::vector<BatchRow>& batches) {
  if (batches.empty()) return;
  if (!insert_batch_)
    insert_batch_.emplace(
        *record_.database_,
        "INSERT INTO batch (run, first, last, count, started, duration_s, numbers, keys, columns, worker) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  Statement& insert = *insert_batch_;
  for (const BatchRow& batch : batches) {
    std::string columns;
    for (const std::vector<std::int64_t>& column : batch.columns) columns += bytes_of(column);
    insert.bind(1, run_row_)
        .bind(2, number(batch.first))
        .bind(3, number(batch.last))
        .bind(4, number(batch.keys.size()));
    insert.bind(5, batch.started).bind(6, batch.duration_s);
    insert.bind_bytes(7, bytes_of(batch.numbers)).bind_bytes(8, bytes_of(batch.keys)).bind_bytes(9, columns);
    insert.bind(10, std::int64_t{batch.worker}).run();
  }
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
