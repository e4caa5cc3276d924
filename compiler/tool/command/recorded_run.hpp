#pragma once
// Runs that the record has, as the command line names them.
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "vm/record/run_record.hpp"

namespace raddle::tool {

/// What names the run that began last.
inline constexpr std::string_view newest_run = "last";

/// How a run began, in the record.
namespace run_kind {
inline constexpr const char *sweep = "sweep", *resume = "resume", *rerun = "rerun", *rerun_failed = "rerun --failed",
                            *rerun_all = "rerun --all", *rerun_some = "rerun --where", *script = "run";
}

/// The run that a command line names: an id, its beginning or end; "": the latest. @return an exit code, all said
std::expected<vm::RunRow, int> find_run(const std::string& name);
/// The same; "": the latest sweep. A run of a script is refused.
std::expected<vm::RunRow, int> find_sweep(const std::string& name);

/// Says that there is no record. @return exit_failed
int no_record();

/// Whether it was `raddle run`: what it has for points are programs and calls of `@memo` functions, its tasks.
bool is_of_script(const vm::RunRow& run);
/// What a run has taken from earlier ones is known when it has ended by itself.
bool is_counted(const vm::RunRow& run);

/// Does what reads the record; says what that is refused with. @return its exit code, or exit_failed
int with_record(const std::function<int()>& action);

/// What `runs list --json` has of it, a JSON object. @param tasks  of a sweep's points, for `runs show --json`
std::string run_json(const vm::RunRow& run, std::optional<vm::TaskCounts> tasks = std::nullopt);

/// The command line that began it.
std::string command_text(const vm::RunRow& run);

}  // namespace raddle::tool
