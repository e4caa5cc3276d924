#include "vm/record/call_record.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "vm/record/record_folder.hpp"
#include "vm/value/file_descriptor.hpp"
#include "vm/value/hash.hpp"
#include "vm/value/unix_time.hpp"

namespace raddle::vm {
namespace {

constexpr std::int64_t call_format_version = 2;
constexpr std::size_t waiting_limit_bytes = std::size_t{256} << 20;
constexpr std::size_t longest_results = std::size_t{256} << 20;
constexpr double used_resolution_s = 3600;
constexpr auto unused_content_age = std::chrono::minutes(10);  // so long a call may need to name what it has kept

constexpr const char* call_tables = R"(
CREATE TABLE IF NOT EXISTS code (row INTEGER PRIMARY KEY, text TEXT UNIQUE NOT NULL);
CREATE TABLE IF NOT EXISTS entry (
  row INTEGER PRIMARY KEY, key BLOB UNIQUE NOT NULL, function TEXT, code INTEGER, inputs TEXT, results BLOB,
  results_hash INTEGER, reads BLOB, bytes INTEGER, made REAL, used REAL, duration_s REAL);
CREATE TABLE IF NOT EXISTS content (entry INTEGER NOT NULL, name TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS content_by_entry ON content (entry);
CREATE TRIGGER IF NOT EXISTS entry_goes DELETE ON entry BEGIN DELETE FROM content WHERE entry = old.row; END;
PRAGMA recursive_triggers = ON;
PRAGMA user_version = 2;
)";

/// Names and versions, each with a zero byte behind it: neither has one.
std::string bytes_of(const std::vector<ReadFile>& reads) {
  std::string bytes;
  for (const ReadFile& file : reads) bytes.append(file.name).append(1, '\0').append(file.version).append(1, '\0');
  return bytes;
}

std::vector<ReadFile> reads_of(std::string_view bytes) {
  std::vector<ReadFile> reads;
  const auto take = [&bytes] {
    const std::size_t end = std::min(bytes.find('\0'), bytes.size());
    const std::string text(bytes.substr(0, end));
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
    return text;
  };
  while (!bytes.empty()) {
    std::string name = take();
    reads.push_back({std::move(name), take()});
  }
  return reads;
}

std::int64_t hash_of(std::string_view results) { return static_cast<std::int64_t>(vm::hash(results).low); }

void remove_database() {
  for (const char* suffix : {"", "-wal", "-shm"}) {
    std::error_code code;
    std::filesystem::remove(std::string(call_record_path) + suffix, code);
  }
}

/// @return null if it is none of ours, or damaged
std::unique_ptr<Database> try_open() {
  auto database = std::make_unique<Database>(call_record_path);
  try {
    const std::int64_t format = format_of(*database);
    if (format != 0 && format != call_format_version) return nullptr;
    use_write_ahead_log(*database);
    database->run("PRAGMA recursive_triggers = ON;");  // REPLACE is to fire the trigger
    if (format == 0) {
      Transaction transaction(*database);
      database->run(call_tables);
      transaction.commit();
    }
    return database;
  } catch (const RecordError&) {
    const int code = sqlite3_errcode(database->handle());
    if (code != SQLITE_NOTADB && code != SQLITE_CORRUPT) throw;
    return nullptr;
  }
}

/// What can not be read is made anew: nothing in it can not be computed again. @throws RecordError
std::unique_ptr<Database> open_or_make() {
  make_record_folder();
  std::unique_ptr<Database> database = try_open();
  if (database) return database;
  remove_database();
  database = try_open();
  if (!database) throw RecordError(fmt::format("the record `{}` can not be made", call_record_path));
  return database;
}

bool is_there() {
  std::error_code code;
  return std::filesystem::exists(call_record_path, code);
}

std::uint64_t size_of_content(const std::string& name) { return std::strtoull(name.c_str(), nullptr, 10); }

/// Contents and half-written files that nothing names.
void remove_unnamed_contents(Database& database) {
  std::set<std::string> named;
  Statement names(database, "SELECT DISTINCT name FROM content");
  while (names.step()) named.insert(names.text(0));
  std::error_code code;
  const auto oldest = std::filesystem::file_time_type::clock::now() - unused_content_age;
  for (const auto& file : std::filesystem::directory_iterator(kept_files_folder, code)) {
    if (named.contains(file.path().filename().string())) continue;
    if (file.last_write_time(code) < oldest) std::filesystem::remove(file.path(), code);
  }
}

std::uint64_t remove_entries(Database& database, const char* condition, double value) {
  Statement(database, fmt::format("DELETE FROM entry WHERE {}", condition)).bind(1, value).run();
  return static_cast<std::uint64_t>(sqlite3_changes64(database.handle()));
}

/// When the first of those that may stay was used: they take no more than `bytes` together.
double oldest_within(Database& database, std::uint64_t bytes) {
  Statement entries(database, "SELECT used, bytes FROM entry ORDER BY used DESC, row DESC");
  std::uint64_t total = 0;
  while (entries.step()) {
    total += static_cast<std::uint64_t>(entries.integer(1));
    if (total > bytes) return entries.real(0);
  }
  return -1;
}

}  // namespace

CallRecord::CallRecord(std::string version, bool takes_old) : version_(std::move(version)), takes_old_(takes_old) {}

CallRecord::~CallRecord() { problem(); }

PointKey CallRecord::key_of(const RecordedCall& call, std::string_view inputs_bytes) const {
  std::string text;
  for (const std::string& part : {version_, call.function, call.code}) text.append(part).push_back('\0');
  const Hash128 hash = vm::hash(text.append(inputs_bytes));
  return {hash.high, hash.low};
}

/// @pre reader_mutex_ is held. @return null if there is nothing to read
Database* CallRecord::database() {
  if (is_opened_) return reader_.get();
  if (!is_there()) return nullptr;
  is_opened_ = true;
  try {
    reader_ = open_or_make();
  } catch (const RecordError& error) {
    note_problem(error.what());
  }
  return reader_.get();
}

std::optional<CallRecord::Found> CallRecord::find(const RecordedCall& call) {
  std::optional<Found> found = find_kept(call);
  const auto is_as_before = [this](const ReadFile& file) { return has_version(files_, file.name, file.version); };
  if (found && !std::ranges::all_of(found->reads, is_as_before)) found.reset();
  return found;
}

std::optional<CallRecord::Found> CallRecord::find_kept(const RecordedCall& call) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = present_.find(call.key); found != present_.end())
      return Found{found->second->results, found->second->reads};
    if (!takes_old_) return std::nullopt;
  }
  const std::lock_guard lock(reader_mutex_);
  Database* const opened = database();
  if (opened == nullptr) return std::nullopt;
  std::optional<Found> found;
  try {
    if (!find_)
      find_.emplace(*opened, "SELECT results, results_hash, row, used, function, reads FROM entry WHERE key = ?");
    find_->bind_bytes(1, call.key.bytes());
    if (find_->step() && find_->text(4) == call.function) {
      const std::string results = find_->text(0), reads = find_->text(5);
      if (hash_of(reads + results) == find_->integer(1)) found = {results, reads_of(reads)};
      if (found && unix_time() - find_->real(3) > used_resolution_s) {
        const std::lock_guard own(mutex_);
        used_.insert(find_->integer(2));
      }
    }
    find_->reset();
  } catch (const RecordError& error) {
    find_.reset();
    reader_.reset();
    note_problem(error.what());
  }
  return found;
}

void CallRecord::keep(KeptCall call) {
  const std::size_t bytes = call.results.size();
  if (bytes > longest_results)
    return note_problem(fmt::format("a result of `{}` takes more than {} MiB", call.call.function, bytes >> 20));
  auto kept = std::make_shared<const KeptCall>(std::move(call));
  std::unique_lock lock(mutex_);
  written_.wait(lock, [&] { return waiting_bytes_ < waiting_limit_bytes || has_failed_; });
  if (has_failed_ || !start_writer()) return;
  present_[kept->call.key] = kept;
  waiting_.push_back(std::move(kept));
  waiting_bytes_ += bytes;
  arrived_.notify_one();
}

/// @pre mutex_ is held. @return whether there is a thread that writes
bool CallRecord::start_writer() {
  if (thread_.joinable()) return true;
  try {
    thread_ = std::thread([this] { work(); });
    return true;
  } catch (const std::system_error& error) {
    has_failed_ = true;
    if (!problem_) problem_ = "no thread could be started: " + error_text(error.code().value());
    return false;
  }
}

void CallRecord::note_problem(std::string text) {
  const std::lock_guard lock(mutex_);
  if (!problem_) problem_ = std::move(text);
}

std::optional<std::string> CallRecord::problem() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    if (!used_.empty()) start_writer();
  }
  arrived_.notify_one();
  if (thread_.joinable()) thread_.join();
  const std::lock_guard lock(mutex_);
  return problem_;
}

void CallRecord::work() {
  std::unique_ptr<Database> database;
  std::unique_lock lock(mutex_);
  for (;;) {
    arrived_.wait(lock, [&] { return is_ending_ || !waiting_.empty(); });
    if (waiting_.empty() && used_.empty()) return;
    const std::vector<std::shared_ptr<const KeptCall>> calls = std::exchange(waiting_, {});
    const std::set<std::int64_t> used = std::exchange(used_, {});
    waiting_bytes_ = 0;
    written_.notify_all();
    lock.unlock();
    std::optional<std::string> error;
    try {
      if (!database) database = open_or_make();
      write(*database, calls, used);
    } catch (const RecordError& failure) {
      error = failure.what();
    }
    lock.lock();
    if (takes_old_ && !error)
      for (const auto& each : calls) present_.erase(each->call.key);
    if (!error) continue;
    has_failed_ = true;
    if (!problem_) problem_ = std::move(error);
    written_.notify_all();
    return;
  }
}

void CallRecord::write(Database& database, const std::vector<std::shared_ptr<const KeptCall>>& calls,
                       const std::set<std::int64_t>& used) {
  Transaction transaction(database);
  Statement add_code(database, "INSERT OR IGNORE INTO code (text) VALUES (?)");
  Statement add(
      database,
      "INSERT OR REPLACE INTO entry (key, function, code, inputs, results, results_hash, bytes, made, used, "
      "duration_s, reads) VALUES (?1, ?2, (SELECT row FROM code WHERE text = ?3), ?4, ?5, ?6, ?7, ?8, ?8, ?9, "
      "?10)");
  Statement add_content(database, "INSERT INTO content (entry, name) VALUES (?, ?)");
  Statement use(database, "UPDATE entry SET used = ? WHERE row = ?");
  for (const auto& each : calls) {
    const RecordedCall& call = each->call;
    add_code.bind(1, call.code).run();
    std::uint64_t bytes = each->results.size() + call.inputs.size();
    for (const std::string& content : each->contents) bytes += size_of_content(content);
    add.bind_bytes(1, call.key.bytes()).bind(2, call.function).bind(3, call.code).bind(4, call.inputs);
    const std::string reads = bytes_of(each->reads);
    add.bind_bytes(5, each->results).bind(6, hash_of(reads + each->results)).bind_bytes(10, reads);
    add.bind(7, static_cast<std::int64_t>(bytes));
    add.bind(8, unix_time()).bind(9, each->duration_s).run();
    const std::int64_t row = database.last_row();
    for (const std::string& content : each->contents) add_content.bind(1, row).bind(2, content).run();
  }
  for (const std::int64_t row : used) use.bind(1, unix_time()).bind(2, row).run();
  transaction.commit();
}

std::vector<KeptFunction> CallRecord::functions() {
  std::vector<KeptFunction> all;
  if (!is_there()) return all;
  const std::unique_ptr<Database> database = open_or_make();
  Statement rows(*database, "SELECT function, count(*), sum(bytes), max(used) FROM entry GROUP BY function ORDER BY 1");
  while (rows.step())
    all.push_back({.name = rows.text(0),
                   .calls = static_cast<std::uint64_t>(rows.integer(1)),
                   .bytes = static_cast<std::uint64_t>(rows.integer(2)),
                   .used = rows.real(3)});
  return all;
}

std::uint64_t CallRecord::gc(const CallLimits& limits) {
  if (!is_there()) return 0;
  const std::unique_ptr<Database> database = open_or_make();
  std::uint64_t removed = 0;
  Transaction transaction(*database);
  if (limits.age_s) removed += remove_entries(*database, "used <= ?", unix_time() - *limits.age_s);
  if (limits.bytes) removed += remove_entries(*database, "used <= ?", oldest_within(*database, *limits.bytes));
  database->run("DELETE FROM code WHERE row NOT IN (SELECT code FROM entry)");
  remove_unnamed_contents(*database);
  transaction.commit();
  database->run("VACUUM");
  return removed;
}

}  // namespace raddle::vm
