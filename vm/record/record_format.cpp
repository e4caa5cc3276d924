#include "vm/record/record_format.hpp"

#include <fmt/format.h>

#include "vm/record/record_folder.hpp"
#include "vm/record/row_digest.hpp"
#include "vm/record/run_record.hpp"

namespace raddle::vm {
namespace {

constexpr std::int64_t format_version = 9;

/// The contents of blocks stand last: whoever reads only the columns before them does not read their pages.
constexpr const char* tables = R"(
CREATE TABLE IF NOT EXISTS run (
  row INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL, kind TEXT, command TEXT, started REAL, ended REAL, state INTEGER,
  points INTEGER, taken INTEGER, ok INTEGER, failed INTEGER, resumes TEXT, collect TEXT,
  columns TEXT, work INTEGER, pid INTEGER, start_ticks INTEGER, boot TEXT, digest INTEGER);
CREATE TABLE IF NOT EXISTS point (
  digest INTEGER, run INTEGER NOT NULL, number INTEGER, key BLOB, attempt INTEGER, is_last INTEGER, outcome INTEGER,
  started REAL, duration_s REAL, exit_code INTEGER, signal INTEGER, worker INTEGER, inputs TEXT, detail TEXT,
  parameters TEXT, results TEXT, stdout_end BLOB, stderr_end BLOB, stdout_size INTEGER, stderr_size INTEGER);
CREATE TABLE IF NOT EXISTS task (
  digest INTEGER, run INTEGER NOT NULL, point INTEGER, point_attempt INTEGER, number INTEGER, key BLOB,
  attempt INTEGER, is_last INTEGER, outcome INTEGER, started REAL, duration_s REAL, exit_code INTEGER, signal INTEGER,
  worker INTEGER, inputs TEXT, detail TEXT, parameters TEXT, results TEXT, stdout_end BLOB, stderr_end BLOB,
  stdout_size INTEGER, stderr_size INTEGER);
CREATE TABLE IF NOT EXISTS block (
  row INTEGER PRIMARY KEY, digest INTEGER, run INTEGER NOT NULL, first INTEGER, last INTEGER, count INTEGER,
  started REAL, duration_s REAL, worker INTEGER, content_digest INTEGER, numbers BLOB, keys BLOB, columns BLOB);
CREATE TABLE IF NOT EXISTS taken (run INTEGER PRIMARY KEY, digest INTEGER, rows BLOB);
CREATE TABLE IF NOT EXISTS device (
  digest INTEGER, run INTEGER NOT NULL, device INTEGER, name TEXT, started REAL, duration_s REAL, computed INTEGER,
  function TEXT, place TEXT, lane INTEGER, bytes INTEGER, held INTEGER, memory INTEGER);
CREATE INDEX IF NOT EXISTS block_by_run ON block (run);
CREATE INDEX IF NOT EXISTS run_by_work ON run (work);
CREATE INDEX IF NOT EXISTS point_by_key ON point (key);
CREATE INDEX IF NOT EXISTS point_by_number ON point (run, number);
CREATE INDEX IF NOT EXISTS task_by_point ON task (run, point);
CREATE INDEX IF NOT EXISTS device_by_run ON device (run);
PRAGMA user_version = 9;
)";

/// What format 2 did not have, besides the tasks of points, which came with 4; the rows that are there have none of it.
constexpr const char* columns_of_3 = R"(
ALTER TABLE point ADD COLUMN worker INTEGER;
ALTER TABLE point ADD COLUMN inputs TEXT;
ALTER TABLE batch ADD COLUMN worker INTEGER;
)";

constexpr const char* table_of_4 =
    "CREATE TABLE task AS SELECT *, 0 AS point, 0 AS point_attempt FROM point WHERE false";

constexpr const char* move_aside = R"(
ALTER TABLE run RENAME TO old_run;
ALTER TABLE point RENAME TO old_point;
ALTER TABLE task RENAME TO old_task;
ALTER TABLE batch RENAME TO old_block;
DROP INDEX IF EXISTS batch_by_run;
DROP INDEX IF EXISTS run_by_work;
DROP INDEX IF EXISTS point_by_key;
DROP INDEX IF EXISTS point_by_number;
DROP INDEX IF EXISTS task_by_point;
)";

constexpr const char* drop_old = "DROP TABLE old_run; DROP TABLE old_point; DROP TABLE old_task; DROP TABLE old_block;";

void run(Database& database, const std::string& sql) { database.run(sql.c_str()); }

/// The rows of formats before 5 have no digest: what they say now is taken for what was written.
void add_digests(Database& database) {
  run(database, move_aside);
  run(database, tables);
  run(database,
      "INSERT INTO run SELECT *, NULL FROM (SELECT row, id, kind, command, started, ended, state, points, "
      "taken, ok, failed, resumes, collect, columns, work, pid, start_ticks, boot FROM old_run)");
  Statement runs(database, "SELECT row FROM old_run"), seal(database, seal_run);
  while (runs.step()) seal.bind(1, runs.integer(0)).run();
  for (const auto& [table, columns] : {std::pair("point", point_columns), std::pair("task", task_columns)})
    run(database, fmt::format("INSERT INTO {0} (rowid, digest, {1}) SELECT rowid, digest({1}), {1} FROM old_{0}", table,
                              columns));
  run(database, fmt::format("INSERT INTO block (row, digest, {0}, {1}) SELECT row, digest({0}), {0}, {1} FROM "
                            "(SELECT *, digest({1}) AS content_digest FROM old_block)",
                            block_columns, block_content));
}

/// What devices have copied, and the memory that they had, came with 9.
constexpr const char* device_columns_of_8 = "run, device, name, started, duration_s, computed, function, place";
constexpr const char* columns_of_9 = R"(
ALTER TABLE device ADD COLUMN lane INTEGER DEFAULT 0;
ALTER TABLE device ADD COLUMN bytes INTEGER DEFAULT 0;
ALTER TABLE device ADD COLUMN held INTEGER DEFAULT 0;
ALTER TABLE device ADD COLUMN memory INTEGER DEFAULT 0;
)";

/// Changes formats 2 to 8. Of 5 nothing changes but a table's name, and that runs to come say what they have taken; 6
/// had the old name still; 7 had nothing of devices; 8 nothing of what they copied.
void change_format(Database& database) {
  Transaction transaction(database);
  const std::int64_t found = format_of(database);  // somebody else may have done it meanwhile
  if (found == 5 || found == 6)
    run(database, std::string("ALTER TABLE batch RENAME TO block; DROP INDEX batch_by_run;") + tables);
  if (found == 7) run(database, tables);
  if (found == 8) {
    run(database, fmt::format("DELETE FROM device WHERE NOT is_intact(digest, {})", device_columns_of_8));
    run(database, columns_of_9);
    run(database, fmt::format("UPDATE device SET digest = digest({})", device_columns));
    run(database, tables);
  }
  if (found < 5) {
    if (found == 2) run(database, columns_of_3);
    if (found < 4) run(database, table_of_4);
    add_digests(database);
    run(database, drop_old);
  }
  transaction.commit();
}

/// Views are named as the tables, before which SQLite takes them, and it reads the tables by their indexes as ever. The
/// inner SELECT is for the order: what a query asks for is looked at first, else SQLite takes `outcome = 0` for a
/// reason to give the function a 0, and a row in which it is not would count as damaged.
void make_view(Database& database, const char* view, const char* table, const char* rows, const char* columns) {
  run(database, fmt::format("CREATE TEMP VIEW {} AS SELECT {} FROM main.{} WHERE (SELECT is_intact(digest, {}))", view,
                            rows, table, columns));
}

/// @param blocks  the name of that table
void make_views(Database& database, const char* blocks) {
  make_view(
      database, "run", "run", "*",
      "row, id, kind, command, started, ended, state, points, taken, ok, failed, resumes, collect, columns, work, "
      "pid, start_ticks, boot");
  make_view(database, "point", "point", "rowid AS rowid, *", point_columns);
  make_view(database, "task", "task", "rowid AS rowid, *", task_columns);
  make_view(database, "block", blocks, "*", block_columns);
}

constexpr const char* no_taken = "CREATE TEMP TABLE taken (run INTEGER, rows BLOB)";
constexpr const char* no_devices =
    "CREATE TEMP TABLE device (run INTEGER, device INTEGER, name TEXT, started REAL, duration_s REAL, computed "
    "INTEGER, function TEXT, place TEXT, lane INTEGER, bytes INTEGER, held INTEGER, memory INTEGER)";

/// The same for an earlier format: what it lacks is there for this reader alone.
void make_views_of(Database& database, std::int64_t format) {
  const bool is_2 = format == 2;
  run(database, fmt::format("CREATE TEMP VIEW point AS SELECT rowid AS rowid, *, NULL AS digest{} FROM main.point",
                            is_2 ? ", NULL AS worker, NULL AS inputs" : ""));
  run(database, fmt::format("CREATE TEMP VIEW block AS SELECT *, 0 AS content_digest{} FROM main.batch",
                            is_2 ? ", NULL AS worker" : ""));
  run(database, format < 4 ? "CREATE TEMP TABLE task AS SELECT *, 0 AS point, 0 AS point_attempt FROM point WHERE false"
                           : "CREATE TEMP VIEW task AS SELECT rowid AS rowid, *, NULL AS digest FROM main.task");
}

}  // namespace

void open_tables(Database& database) {
  const std::int64_t format = format_of(database);
  const bool is_earlier = format >= 2 && format < format_version;
  const bool stays = is_earlier && database.is_read_only();
  add_digest_functions(database, stays && format < 5 ? Digests::none : Digests::checked);
  if (stays) {
    if (format < 8)
      run(database, no_devices);
    else
      make_view(database, "device", "device", "*, 0 AS lane, 0 AS bytes, 0 AS held, 0 AS memory", device_columns_of_8);
    if (format >= 6)
      make_view(database, "taken", "taken", "*", taken_columns);
    else
      run(database, no_taken);
    return format < 5 ? make_views_of(database, format) : make_views(database, format < 7 ? "batch" : "block");
  }
  if (is_earlier) change_format(database);
  if (format_of(database) != format_version)
    throw RecordError(fmt::format("the record `{}` is of another version of raddle: rename or remove it", record_path));
  make_views(database, "block");
  make_view(database, "taken", "taken", "*", taken_columns);
  make_view(database, "device", "device", "*", device_columns);
}

void make_or_open_tables(Database& database) {
  if (format_of(database) == 0) {
    Transaction transaction(database);
    run(database, tables);
    transaction.commit();
  }
  open_tables(database);
}

}  // namespace raddle::vm
