// The command line of raddle_run, the tool that tests run with sanitizers: `raddle_run run ..` is `raddle run ..`.
#include <array>

#include "compiler/tool/command/usage_error.hpp"
#include "compiler/tool/command/verb.hpp"
#include "compiler/tool/main/command_line.hpp"

namespace raddle::tool {

std::span<const Verb* const> verbs() {
  static constexpr std::array all = {&run_verb};
  return all;
}

int run_command_line(const std::vector<std::string>& words) {
  if (words.empty() || words.front() != run_verb.name) return usage_error("raddle_run has the verb `run` only");
  return run_verb.run({words.begin() + 1, words.end()});
}

}  // namespace raddle::tool
