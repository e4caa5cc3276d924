#pragma once
// `raddle run`; `raddle FILE` is the same.
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "compiler/tool/command/session.hpp"

namespace raddle::tool {

/// What stands before the script.
struct RunWords {
  Options options;
  std::string code;  ///< of -e; "": none
};

void add_run_options(CLI::App& app, RunWords& words);
void add_memory_options(CLI::App& app, Options& options, const std::string& group = "Options");
void add_gpus_option(CLI::App& app, std::string& gpus, const std::string& group = "Options");
/// With what, and with how much of it, things are run.
void add_machine_options(CLI::App& app, Options& options);

/// @param app    has read `words` into `read`
/// @param words  of the whole command line, without the verb
/// @param rest   what stands behind the options: the script, unless it is `read.code`, and its arguments
/// @param verb   "": it was left out
/// @return       exit code
int run_named_script(CLI::App& app, const RunWords& read, const std::vector<std::string>& words,
                     std::vector<std::string> rest, const std::string& verb);

}  // namespace raddle::tool
