#include "vm/record/spilled_rows.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "vm/record/process_identity.hpp"
#include "vm/record/record_folder.hpp"
#include "vm/record/record_format.hpp"
#include "vm/value/standard_error.hpp"

namespace raddle::vm {
namespace {

constexpr std::string_view prefix = "spilled-", suffix = ".db";

std::string path_of(const std::string& run) { return fmt::format("{}/{}{}{}", record_folder, prefix, run, suffix); }

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

/// Attached as `spilled`.
class Attached {
 public:
  Attached(Database& record, const std::string& path) : record_(record) {
    Statement(record, "ATTACH ? AS spilled").bind(1, fmt::format("file:{}?mode=rw", path)).run();
  }
  Attached(const Attached&) = delete;
  Attached& operator=(const Attached&) = delete;
  ~Attached() { sqlite3_exec(record_.handle(), "DETACH spilled", nullptr, nullptr, nullptr); }

 private:
  Database& record_;
};

/// Rows that are there already were moved by somebody who was killed before the file was removed. Those of a run that
/// was removed go with it.
void copy_rows(Database& record, const std::string& run, const char* table, const std::string& columns,
               const char* is_same) {
  Statement(record, fmt::format("INSERT INTO main.{0} ({1}) SELECT {1} FROM spilled.{0} AS row WHERE "
                                "(SELECT id FROM main.run WHERE main.run.row = row.run) = ?1 AND NOT EXISTS "
                                "(SELECT 1 FROM main.{0} AS other WHERE other.run = row.run AND {2}) ORDER BY rowid",
                                table, columns, is_same))
      .bind(1, run)
      .run();
}

std::int64_t number_of(Database& record, const char* sql) {
  Statement query(record, sql);
  return query.step() ? query.integer(0) : 0;
}

void copy_all(Database& record, const std::string& run) {
  Transaction transaction(record);
  copy_rows(record, run, "point", fmt::format("digest, {}", point_columns),
            "other.number = row.number AND other.attempt = row.attempt");
  copy_rows(record, run, "task", fmt::format("digest, {}", task_columns),
            "other.point = row.point AND other.number = row.number AND other.point_attempt = row.point_attempt AND "
            "other.attempt = row.attempt");
  copy_rows(record, run, "block", fmt::format("digest, {}, {}", block_columns, block_content),
            "other.first = row.first AND other.content_digest = row.content_digest");
  transaction.commit();
}

/// One without a format has no tables: its run was killed, or had no room, when it was about to make them.
void move_rows(Database& record, const std::string& run) {
  const std::string path = path_of(run);
  {
    const Attached attached(record, path);
    const std::int64_t format = number_of(record, "PRAGMA spilled.user_version");
    if (format != 0 && format != number_of(record, "PRAGMA main.user_version"))
      throw RecordError(fmt::format("`{}` is of another raddle's format", path));
    if (format != 0) copy_all(record, run);
  }
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
}

/// Whether its rows could not be moved at any time.
bool is_damaged(Database& record, const std::string& path) {
  try {
    const Attached attached(record, path);
    if (number_of(record, "PRAGMA spilled.user_version") != number_of(record, "PRAGMA main.user_version")) return true;
    Statement check(record, "PRAGMA spilled.quick_check(1)");
    return !check.step() || check.text(0) != "ok";
  } catch (const RecordBusy&) {
    return false;
  } catch (const RecordError&) {
    return true;
  }
}

/// So that the record can be used without it. @return whether it could be
bool put_away(const std::string& path) {
  const std::string kept = path + ".damaged";
  std::error_code failed;
  std::filesystem::rename(path, kept, failed);
  if (failed) return false;
  print_stderr("raddle: what a run could not write into the record can not be read: it is kept in `{}`\n", kept);
  return true;
}

bool is_running(Database& record, const std::string& run) {
  Statement process(record, "SELECT pid, start_ticks, boot FROM main.run WHERE id = ? AND state = 0");
  static_assert(static_cast<int>(RunState::running) == 0);
  if (!process.bind(1, run).step()) return false;
  return is_alive({process.integer(0), process.integer(1), process.text(2)});
}

}  // namespace

SpilledRows::SpilledRows(std::string run, std::int64_t run_row) : run_(std::move(run)), run_row_(run_row) {}

void SpilledRows::write(const std::vector<PointRow>& rows, const std::vector<BlockRow>& blocks) {
  if (!writer_) {
    database_ = std::make_unique<Database>(path_of(run_));
    make_or_open_tables(*database_);
    writer_ = std::make_unique<RowWriter>(*database_, run_row_);
  }
  writer_->write(rows, blocks);
}

void SpilledRows::move_into(Database& record) {
  writer_.reset();
  database_.reset();
  move_rows(record, run_);
}

void take_in_spilled_rows(Database& record) {
  std::error_code code;
  for (const auto& file : std::filesystem::directory_iterator(record_folder, code)) {
    const std::string name = file.path().filename().string();
    if (!name.starts_with(prefix) || !name.ends_with(suffix)) continue;
    const std::string run = name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
    if (is_running(record, run)) continue;
    try {
      move_rows(record, run);
    } catch (const RecordBusy&) {
      return;
    } catch (const RecordError&) {
      if (!exists(path_of(run))) continue;  // somebody else has moved it
      if (!is_damaged(record, path_of(run)) || !put_away(path_of(run))) throw;
    }
  }
}

}  // namespace raddle::vm
