#pragma once
// Verbs that make a file of a recorded run: `raddle report`, `raddle trace`.
#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "compiler/tool/command/picture.hpp"
#include "compiler/tool/report/trace.hpp"
#include "compiler/tool/formats/writer.hpp"
#include "vm/record/run_record.hpp"

namespace raddle::tool {

/// Appends what stands in the file.
using DrawRun = std::function<void(vm::RunRecord&, const vm::RunRow&, sweep::Writer&)>;

/// What was typed behind the verb.
struct DrawWords {
  std::string run, path;
  std::uint64_t most_slices = report::most_slices;  ///< of a trace
};

/// `[RUN] [-o FILE]`.
void add_draw_options(CLI::App& app, DrawWords& words, const PictureVerb& verb);

/// Has the file drawn that the words ask for; the record is as it is at one moment. @return exit code
int draw_run(const DrawWords& words, const PictureVerb& verb, const DrawRun& draw);

}  // namespace raddle::tool
