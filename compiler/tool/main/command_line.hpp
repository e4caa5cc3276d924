#pragma once
// The tool's command line: a verb and its words, or what stands for `raddle run` and `raddle repl`.
#include <string>
#include <vector>

namespace raddle::tool {

/// Does what the words behind `raddle` say. @return exit code
int run_command_line(const std::vector<std::string>& words);

}  // namespace raddle::tool
