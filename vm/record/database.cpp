#include "vm/record/database.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <system_error>

namespace raddle::vm {

Statement::Statement(Database& database, std::string_view sql) : database_(database) {
  sqlite3_stmt* statement = nullptr;
  require(sqlite3_prepare_v3(database.handle(), sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT,
                             &statement, nullptr));
  handle_.reset(statement);
}

void Statement::require(int status) {
  if (status != SQLITE_OK) database_.fail();
}

Statement& Statement::bind(int parameter, std::int64_t value) {
  require(sqlite3_bind_int64(handle_.get(), parameter, value));
  return *this;
}

Statement& Statement::bind(int parameter, double value) {
  require(sqlite3_bind_double(handle_.get(), parameter, value));
  return *this;
}

Statement& Statement::bind(int parameter, std::string_view text) {
  require(sqlite3_bind_text64(handle_.get(), parameter, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
  return *this;
}

Statement& Statement::bind_bytes(int parameter, std::string_view bytes) {
  require(sqlite3_bind_blob64(handle_.get(), parameter, bytes.data(), bytes.size(), SQLITE_TRANSIENT));
  return *this;
}

Statement& Statement::bind_nothing(int parameter) {
  require(sqlite3_bind_null(handle_.get(), parameter));
  return *this;
}

bool Statement::step() {
  const int status = sqlite3_step(handle_.get());
  if (status == SQLITE_ROW) return true;
  if (status == SQLITE_DONE) return false;
  sqlite3_reset(handle_.get());
  database_.fail();
}

void Statement::run() {
  while (step()) {
  }
  reset();
}

std::string Statement::text(int column) const {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(handle_.get(), column));
  return bytes == nullptr ? std::string()
                          : std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column)));
}

Database::Database(const std::string& path) : path_(path) {
  constexpr int writing = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI;
  if (access(path.c_str(), F_OK) != 0 || access(path.c_str(), W_OK) == 0)
    open(path, writing);
  else if (open(path, SQLITE_OPEN_READONLY); !can_be_read()) {
    // without leave to write beside it SQLite opens it only if nobody has written since; then all is in the one file
    std::error_code code;
    const std::uintmax_t log_bytes = std::filesystem::file_size(path + "-wal", code);
    const int fault = sqlite3_errcode(handle_.get());
    if ((fault != SQLITE_CANTOPEN && fault != SQLITE_READONLY) || (!code && log_bytes != 0)) fail();
    open(fmt::format("file:{}?immutable=1", path), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
  }
}

void Database::open(const std::string& name, int flags) {
  sqlite3* database = nullptr;
  const int status = sqlite3_open_v2(name.c_str(), &database, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  handle_.reset(database);
  if (status != SQLITE_OK) fail();
  wait_for_others(longest_wait);
}

bool Database::can_be_read() const {
  return sqlite3_exec(handle_.get(), "SELECT count(*) FROM sqlite_schema", nullptr, nullptr, nullptr) == SQLITE_OK;
}

void Database::run(const char* sql) {
  if (sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}

void Database::wait_for_others(std::chrono::milliseconds time) {
  sqlite3_busy_timeout(handle_.get(), static_cast<int>(time.count()));
}

void Database::fail() const {
  const int code = sqlite3_errcode(handle_.get());
  const std::string_view text = sqlite3_errmsg(handle_.get());
  if (code == SQLITE_BUSY || code == SQLITE_PROTOCOL)  // the latter: locks of the write-ahead log
    throw RecordBusy(fmt::format("the record `{}` is locked by another process, which was waited for in vain", path_));
  // what we ask for is in every record: where SQLite finds no such thing, the names of its tables are damaged
  if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB || text.find("no such ") != text.npos ||
      text.find(" has no column ") != text.npos)
    throw RecordError(
        fmt::format("the record `{0}` is damaged: {1}\n  = help: move it away, with all that is called so, and it is "
                    "begun anew: mkdir damaged && mv {0}* damaged/",
                    path_, text));
  throw RecordError(fmt::format("the record `{}`: {}", path_, text));
}

}  // namespace raddle::vm
