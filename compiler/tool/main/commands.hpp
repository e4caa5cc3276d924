#pragma once
// The verbs of the tool, one function each; every one returns an exit code.
#include <string>
#include <vector>

#include "compiler/tool/main/session.hpp"

namespace raddle::tool {

inline constexpr const char* version = "raddle 0.1.0";

/// Text of a script and the name it goes by in messages: a path, "<stdin>" or "<command line>".
struct Script {
  std::string path;
  std::string text;
};

/// Compiles and runs. @param arguments  the script's own
int run_script(Session& session, Script script, std::vector<std::string> arguments);

/// An interactive session on the terminal that standard input and output are: `raddle repl`.
/// @param script  a file that is run first, as `:load` would; "": none
int run_repl(Session& session, const std::string& script);

/// Compiles without running: `raddle check`. @param as_json  findings go to standard output, a line for the script
int check_script(Session& session, Script script, bool as_json);

/// What `--emit` can print, in the order of the stages.
std::vector<std::string> stage_names();
/// Prints the stage `session.options.emit`, one of these.
int emit_script(Session& session, Script script);

/// What `raddle fmt` does with the formatted text.
struct FormatOptions {
  bool check = false;      ///< name the files that would change, exit_failed if there are any; write nothing
  bool show_diff = false;  ///< print what would change; write nothing
  bool to_stdout = false;  ///< print the whole text; write nothing
  bool as_json = false;    ///< which files change
};

/// Formats scripts in place: `raddle fmt`. @param paths  `-`: standard input to standard output
int format_files(const Session& session, const std::vector<std::string>& paths, const FormatOptions& options);

/// Prints what diagnostics mean: `raddle explain`. @param codes  none: lists all, a line each
int explain(const std::vector<std::string>& codes, bool as_json);

/// Prints what functions of the library do: `raddle doc`. @param names  functions or modules; none: all, a line each
int document(const std::vector<std::string>& names, bool as_json);

/// Says on stderr what is wrong with the command line. @param verb  whose help has more  @return exit_usage
int usage_error(const std::string& message, const std::string& verb = "");

}  // namespace raddle::tool
