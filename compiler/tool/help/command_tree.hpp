#pragma once
// What the tool's command line has, as data: for completions and the manual. Read off the same objects that read the
// command line and print its help.
#include <string>
#include <vector>

namespace raddle::tool {

struct OptionInfo {
  std::vector<std::string> names;  ///< "-j", "--workers"; of a positional one its name, "RUN"
  std::string value;               ///< what stands behind it: "N"; "": nothing
  std::string about;
  std::string group;
  std::vector<std::string> choices;  ///< all values that it takes, if they are known
  bool is_positional = false;
};

struct CommandInfo {
  std::string name;
  std::string about;               ///< a line
  std::string description;         ///< all that its help begins with
  std::vector<std::string> usage;  ///< "raddle run [OPTIONS] FILE ..."
  std::string footer;
  std::vector<OptionInfo> options;
  std::vector<CommandInfo> commands;
};

/// The whole tool.
CommandInfo command_tree();

}  // namespace raddle::tool
