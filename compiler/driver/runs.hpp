#pragma once
// Verbs that work on recorded runs.
#include <expected>
#include <functional>
#include <string>
#include <vector>

#include "vm/record/run_record.hpp"

namespace raddle::driver {

/// The run that a command line names: an id, its beginning or end; "": the latest. @return an exit code, all said
std::expected<vm::RunRow, int> find_run(const std::string& name);

/// Does what reads the record; says what that is refused with. @return its exit code, or exit_failed
int with_record(const std::function<int()>& action);

/// The command line that began it.
std::string command_text(const vm::RunRow& run);

/// `raddle runs ...`
int runs_command(const std::vector<std::string>& words);

/// `raddle rerun RUN [--failed]`
int rerun_command(const std::vector<std::string>& words);

/// `raddle report RUN -o report.html`
int report_command(const std::vector<std::string>& words);

/// `raddle trace RUN -o trace.json`
int trace_command(const std::vector<std::string>& words);

}  // namespace raddle::driver
