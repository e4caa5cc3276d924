#pragma once
// Rows of the record's tables as objects: which columns a query has to ask for, and how they are read.
#include <vector>

#include "vm/record/database.hpp"
#include "vm/record/run_record.hpp"

namespace raddle::vm {

inline constexpr const char* run_columns =
    "id, kind, command, started, ended, state, points, taken, ok, failed, resumes, collect, pid, start_ticks, boot, "
    "work, columns";
/// One that is running by the record, and whose process does not live, was killed.
RunRow run_row(const Statement& found);

/// Columns of `point` or `task`, by the name `attempt`, for take_attempt, which is told where they begin.
inline constexpr const char* attempt_columns =
    "outcome, attempt.started, duration_s, exit_code, signal, detail, results, stdout_end, stderr_end, stdout_size, "
    "stderr_size, worker, attempt.inputs, attempt.digest";
inline constexpr int attempt_width = 14;
Attempt take_attempt(const Statement& found, int begin);

/// Columns: number, attempt, is_last, parameters, key, then those of the attempt.
PointRow row_of(const Statement& found);
/// Columns: number, key, parameters.
PointRow take_point(const Statement& found);
/// Columns: row, first, last, whether it is of the first run.
std::vector<BlockHead> take_heads(Statement& query);

}  // namespace raddle::vm
