#pragma once
// A line as Tcl's `exec` takes it: words as those of a list, `|` between programs, `>`, `<` and the like before files.
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace raddle::stdlib {

/// "a {b c} \"d e\" f\\ g" has four words. @return the text of an error
std::expected<std::vector<std::string>, std::string> tcl_words(std::string_view line);

/// The words of the program to start: those of the line, or a shell's where programs or files are joined in it.
std::expected<std::vector<std::string>, std::string> command_of_line(std::string_view line);

}  // namespace raddle::stdlib
