#pragma once
// Verbs that make a file of a recorded run: `raddle report`, `raddle trace`.
#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "compiler/sweep/writer.hpp"
#include "vm/record/run_record.hpp"

namespace raddle::driver {

struct PictureVerb {
  const char* name;
  const char* about;    ///< with examples
  const char* output;   ///< what it makes, for the help of -o: "The page"
  const char* example;  ///< name of a file
};

using DrawRun = std::function<void(vm::RunRecord&, const vm::RunRow&, sweep::Writer&)>;

/// Reads `[RUN] [-o FILE]` and the verb's own options, and has the file drawn; the record is as it is at one moment.
/// @return exit code
int draw_run(const std::vector<std::string>& words, const PictureVerb& verb, const DrawRun& draw,
             const std::function<void(CLI::App&)>& add_options = {});

/// Writes to a file, or to standard output ("" or "-"), which is no terminal unless `for_terminal`. @return exit code
int write_picture(const std::string& path, const PictureVerb& verb, bool for_terminal, const sweep::Writing& writing);

}  // namespace raddle::driver
