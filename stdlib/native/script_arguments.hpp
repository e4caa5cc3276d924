#pragma once
// The command line of a script: `-key=value`, `--key=value` and `-key` are flags, others positional.
#include <map>
#include <string>
#include <vector>

namespace raddle::stdlib {

struct ScriptArguments {
  std::map<std::string, std::string> flags;  ///< a flag without value has ""
  std::vector<std::string> positional;       ///< without the script's name: argp(1) is the first
};

/// A value that begins with a double quote goes on over the next words up to one that ends with a quote. An empty word
/// ends the list. Of a flag given twice the last counts.
ScriptArguments split_arguments(const std::vector<std::string>& words);

}  // namespace raddle::stdlib
