#pragma once
// Runs another program to its end and takes what it prints.
#include <cstdint>
#include <expected>
#include <string>
#include <vector>

namespace raddle::tool {

struct ChildOutput {
  bool is_found = true;  ///< the program is there
  int status = 0;        ///< as waitpid has it
  std::string out;       ///< standard output
};

/// @param words  words[0] is looked up in PATH   @param input  its standard input   @param with_errors  `out` has
/// standard error, too   @error  why it could not be run
std::expected<ChildOutput, std::string> run_child(const std::vector<std::string>& words, const std::string& input = "",
                                                  bool with_errors = false);

}  // namespace raddle::tool
