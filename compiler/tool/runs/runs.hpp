#pragma once
// Verbs that work on recorded runs.
#include <optional>
#include <string>

#include "vm/record/run_record.hpp"

namespace raddle::tool {

/// What a row of its table is: "point", "task".
const char* kind_of_row(const vm::RunRow& run);
/// "point 3", "task 3"
std::string name_of(const vm::RunRow& run, std::uint64_t number);
/// What a task has done: its function and its work, "count: wc -w a.txt". @param parameters  of its row
std::string task_text(const std::string& parameters);
/// "task 3", or "task 7/3" of a sweep's point. @param point  0: none
std::string task_name(std::uint64_t point, std::uint64_t number);

/// What a command line names by `RUN`, `RUN/POINT` or `/POINT`; `RUN/POINT/TASK` is a task of a sweep's point.
struct RunPoint {
  std::string run;  ///< for find_run()
  std::optional<std::uint64_t> point, task;
};
/// @return nothing if what follows a slash is no number
std::optional<RunPoint> read_run_point(const std::string& word);

/// What it has to do with the run that it goes back to. @pre run.resumes is not ""
std::string origin_text(const vm::RunRow& run);

/// `runs logs`. @param word  RUN, RUN/POINT or RUN/POINT/TASK   @return exit code
int show_logs(const std::string& word, bool as_json);

/// `runs diff`: which points or tasks, results and input files differ. @param other  "": the latest   @return exit code
int diff_runs(const std::string& name, const std::string& other, bool as_json);

}  // namespace raddle::tool
