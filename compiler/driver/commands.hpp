#pragma once
// The verbs of the tool, one function each; every one returns an exit code (design.md 7).
#include <string>
#include <vector>

#include "compiler/driver/session.hpp"

namespace raddle::driver {

/// Text of a script and the name it goes by in messages: a path, "<stdin>" or "<command line>".
struct Script {
  std::string path;
  std::string text;
};

/// Compiles and runs. @param arguments  the script's own
int run_script(Session& session, Script script, std::vector<std::string> arguments);

/// Compiles without running: `raddle check`.
int check_script(Session& session, Script script);

/// Prints the stage `session.options.emit`: preprocessed tokens ast checked ir opt llvm vm.
int emit_script(Session& session, Script script);

/// Prints what diagnostics mean: `raddle explain`. @param codes  none: lists all, a line each
int explain(const std::vector<std::string>& codes);

/// Says on stderr what is wrong with the command line. @return exit_usage
int usage_error(const std::string& message);

}  // namespace raddle::driver
