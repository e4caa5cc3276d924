#pragma once
// The tables of the record of runs, and how those of earlier formats become this one.
//
// Every row has a digest of its columns. What is read goes through views, named as the tables, that leave out rows that
// are damaged; what is written is written to `main.run`, `main.point`, `main.task` and `main.block`. The content of a
// block has a digest of its own, so that it need not be read to find the block.
#include <cstdint>

#include "vm/record/database.hpp"

namespace raddle::vm {

/// Ints of the record have a sign.
inline std::int64_t as_stored(std::uint64_t number) { return static_cast<std::int64_t>(number); }

/// Makes the tables if there are none, changes those of an earlier format, and makes the views of this connection. Of a
/// file that may only be read an earlier format stays. @throws RecordError
void make_or_open_tables(Database& database);
/// The same for one that has tables. @throws RecordError
void open_tables(Database& database);

/// Columns of `point` and of `task`, in the order of both; all but the digest.
inline constexpr const char* point_columns =
    "run, number, key, attempt, is_last, outcome, started, duration_s, exit_code, signal, worker, inputs, detail, "
    "parameters, results, stdout_end, stderr_end, stdout_size, stderr_size";
inline constexpr const char* task_columns =
    "run, point, point_attempt, number, key, attempt, is_last, outcome, started, duration_s, exit_code, signal, "
    "worker, "
    "inputs, detail, parameters, results, stdout_end, stderr_end, stdout_size, stderr_size";
/// Those of a block that are no content, and its content.
inline constexpr const char* block_columns = "run, first, last, count, started, duration_s, worker, content_digest";
inline constexpr const char* block_content = "numbers, keys, columns";

/// Of the points that a run has taken from earlier ones.
inline constexpr const char* taken_columns = "run, rows";
/// Of what devices have done for a run.
inline constexpr const char* device_columns =
    "run, device, name, started, duration_s, computed, function, place, lane, bytes, held, memory";

/// Gives the row of a run its digest, after it was changed.
inline constexpr const char* seal_run =
    "UPDATE main.run SET digest = digest(row, id, kind, command, started, ended, state, points, taken, ok, failed, "
    "resumes, collect, columns, work, pid, start_ticks, boot) WHERE row = ?";

}  // namespace raddle::vm
