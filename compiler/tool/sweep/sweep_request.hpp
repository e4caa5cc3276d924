#pragma once
// The command line of `raddle sweep`.
#include <CLI/CLI.hpp>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "compiler/tool/command/recorded_run.hpp"
#include "compiler/tool/command/session.hpp"
#include "compiler/tool/sweep/progress.hpp"
#include "compiler/tool/space/space.hpp"
#include "compiler/tool/sweep/sweep.hpp"
#include "compiler/tool/sweep/table.hpp"
#include "vm/record/run_record.hpp"

namespace raddle::tool {

struct SweepRequest {
  std::vector<std::string> words;    ///< the whole command line behind `sweep`, for the record
  std::vector<std::string> command;  ///< what stands behind `--`
  std::string script;                ///< a path, in place of a command
  std::string profile;               ///< "": none is chosen
  Options script_options;
  sweep::SpaceOptions space;
  std::string where;
  std::string shard, order, max_fails, progress = "auto";  ///< as written
  sweep::SweepOptions run;
  double timeout_s = 0, time_limit_s = 0;  ///< of a point; of the whole sweep
  bool dry_run = false;
  bool is_meant = false;  ///< --yes
  bool use_record = true;
  std::optional<std::string> resume;   ///< an id, "": the latest run
  const char* kind = run_kind::sweep;  ///< vm::RunRow::kind
  std::string resumes;                 ///< id of the run that the command line was taken from
  std::string since;                   ///< id of a run: the record is used from there on. "": all of it
  std::vector<std::string> collect;
  std::vector<std::string> inputs;  ///< --input
  std::string output;
  std::size_t output_count = 0;  ///< how often -o was typed
  std::vector<std::string> group_by, aggregate;
  bool print_script = false;
  bool as_json = false;  ///< what came of it, on standard output
};

/// The request, with settings, or an exit code once everything has been said (help, an error).
std::expected<SweepRequest, int> read_sweep_request(const std::vector<std::string>& words);
/// The same of words that were typed now: one -o at most. In a record, --resume has put one behind another.
std::expected<SweepRequest, int> read_typed_sweep(const std::vector<std::string>& words);
inline constexpr const char* one_output = "the table is written to one file: -o stands there twice";

/// The run from which on results may be taken when `run` is gone on with: the latest of those that it goes back to that
/// was to run all anew. "": from any.
std::string taken_since(const vm::RunRow& run);

/// The options of `raddle sweep`, as they are read into a request.
void add_sweep_options(CLI::App& app, SweepRequest& request);
/// Options that `raddle rerun` has, too; they set what is given.
void add_run_options(CLI::App& app, SweepRequest& request);
void add_result_options(CLI::App& app, SweepRequest& request);

/// Runs it. @return exit code
int run_sweep(const SweepRequest& request);

/// Says on stderr what is wrong with a word of the command line, with a caret. @return exit_usage
int option_error(const sweep::OptionError& error);

}  // namespace raddle::tool
