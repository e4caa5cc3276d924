#pragma once
// Verbs that work on recorded runs.
#include <expected>
#include <functional>
#include <string>

#include "vm/record/run_record.hpp"

namespace raddle::driver {

/// The run that a command line names: an id, its beginning or end; "": the latest. @return an exit code, all said
std::expected<vm::RunRow, int> find_run(const std::string& name);

/// Does what reads the record; says what that is refused with. @return its exit code, or exit_failed
int with_record(const std::function<int()>& action);

/// The command line that began it.
std::string command_text(const vm::RunRow& run);

/// What it has to do with the run that it goes back to. @pre run.resumes is not ""
std::string origin_text(const vm::RunRow& run);

/// `runs diff`: which points and results differ. @param other  "": the latest   @return exit code
int diff_runs(const std::string& name, const std::string& other, bool as_json);

}  // namespace raddle::driver
