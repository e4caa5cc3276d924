#pragma once
// A thin owner of SQLite's handles. Only this folder includes SQLite.
#include <sqlite3.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace raddle::vm {

/// For others that hold it locked, where nothing else is said.
inline constexpr std::chrono::minutes longest_wait(1);

/// What SQLite or the file system refuses: no room, no permission, no database. The text is for the user.
struct RecordError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Others have held it locked for so long that it was not waited for any more.
struct RecordBusy : RecordError {
  using RecordError::RecordError;
};

class Database;

/// A prepared statement. The parameters are numbered from 1, the columns from 0.
class Statement {
 public:
  Statement(Database& database, std::string_view sql);
  Statement& bind(int parameter, std::int64_t value);
  Statement& bind(int parameter, double value);
  Statement& bind(int parameter, std::string_view text);  ///< copied
  Statement& bind_bytes(int parameter, std::string_view bytes);
  Statement& bind_nothing(int parameter);  ///< NULL
  /// @return true if there is a row
  bool step();
  /// Steps to the end and makes it ready for the next use.
  void run();
  void reset() { sqlite3_reset(handle_.get()); }

  std::int64_t integer(int column) const { return sqlite3_column_int64(handle_.get(), column); }
  double real(int column) const { return sqlite3_column_double(handle_.get(), column); }
  std::string text(int column) const;
  /// A blob of 8-byte words, as it was written on a machine like this one.
  template <typename Word>
  std::vector<Word> words(int column) const {
    const auto* bytes = static_cast<const char*>(sqlite3_column_blob(handle_.get(), column));
    std::vector<Word> words(static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column)) / sizeof(Word));
    if (!words.empty()) std::memcpy(words.data(), bytes, words.size() * sizeof(Word));
    return words;
  }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  void require(int status);
  Database& database_;
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
};

/// One connection, to be used by one thread.
class Database {
 public:
  /// Made if it is not there. Waits for others that write. Of a file that this user may not write, only what is there
  /// can be read. @throws RecordError
  explicit Database(const std::string& path);
  void run(const char* sql);
  /// How long others that hold it locked are waited for; else a minute.
  void wait_for_others(std::chrono::milliseconds time);
  /// It may not be written; what is temporary may.
  bool is_read_only() const { return sqlite3_db_readonly(handle_.get(), "main") == 1; }
  /// @throws RecordError or RecordBusy that says so, with the database's name
  [[noreturn]] void fail() const;
  sqlite3* handle() { return handle_.get(); }
  std::int64_t last_row() const { return sqlite3_last_insert_rowid(handle_.get()); }

 private:
  void open(const std::string& name, int flags);
  bool can_be_read() const;
  struct Close {
    void operator()(sqlite3* database) const { sqlite3_close(database); }
  };
  std::string path_;
  std::unique_ptr<sqlite3, Close> handle_;
};

/// All or nothing: rolled back unless committed.
class Transaction {
 public:
  enum class Purpose : std::uint8_t {
    write,
    read,  ///< all of it sees the database as it is at the first statement
  };
  explicit Transaction(Database& database, Purpose purpose = Purpose::write) : database_(database) {
    database_.run(purpose == Purpose::write ? "BEGIN IMMEDIATE" : "BEGIN");
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction() {
    if (!is_committed_) sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
  void commit() {
    database_.run("COMMIT");
    is_committed_ = true;
  }

 private:
  Database& database_;
  bool is_committed_ = false;
};

}  // namespace raddle::vm
