#pragma once
// Verbs that work on recorded runs.
#include <expected>
#include <string>
#include <vector>

#include "vm/record/run_record.hpp"

namespace raddle::driver {

/// The run that a command line names: an id, its beginning or end; "": the latest. @return an exit code, all said
std::expected<vm::RunRow, int> find_run(const std::string& name);

/// `raddle runs ...`
int runs_command(const std::vector<std::string>& words);

/// `raddle rerun RUN [--failed]`
int rerun_command(const std::vector<std::string>& words);

}  // namespace raddle::driver
