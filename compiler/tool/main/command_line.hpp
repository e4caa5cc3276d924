#pragma once
// The command line of the tool: all verbs, and the options of those that it reads itself.
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "compiler/tool/main/commands.hpp"
#include "compiler/tool/main/session.hpp"

namespace raddle::tool {

struct CommandLine {
  std::string code;
  bool show_version = false;
  std::vector<std::string> codes;  ///< of `explain`
  std::vector<std::string> names;  ///< of `doc`
  std::vector<std::string> files;  ///< of `fmt`
  FormatOptions format;
  std::string script_to_load;     ///< of `repl`
  std::vector<std::string> rest;  ///< the script and what follows
  bool verb_given = false;
  bool as_json = false;  ///< of `check`, `explain`, `doc`, `version`
};

/// What the words of the command line are read into, and by.
class CommandLineReader {
 public:
  explicit CommandLineReader(Session& session);
  CommandLineReader(const CommandLineReader&) = delete;
  CommandLineReader& operator=(const CommandLineReader&) = delete;

  CommandLine line;
  CLI::App app;
  // verbs:
  CLI::App *run = nullptr, *check = nullptr, *repl = nullptr, *format = nullptr, *explanation = nullptr,
           *documentation = nullptr, *show_version = nullptr, *help = nullptr;

  /// The names of all verbs.
  std::vector<std::string> verb_names();
  /// The options of `raddle run`: `--workers`, `-j`, ...
  std::vector<std::string> run_option_names() const;

 private:
  void add_verbs(Session& session);
};

}  // namespace raddle::tool
