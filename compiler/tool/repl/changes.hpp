#pragma once
// `x += 1;` in a session: a variable is assigned once, and so a later entry that changes it makes it anew.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/source/expanded_text.hpp"

namespace raddle::tool::repl {

/// Reads as `name = name op (value)`.
struct Change {
  std::string name, op;
  std::uint32_t begin = 0, end = 0;  ///< of the sign `+=`, up to the value
  std::uint32_t value_end = 0;

  std::string instead_of_sign(std::string_view old_name) const {
    return "= " + std::string(old_name) + " " + op + " (";
  }
};

/// Those that are statements outside of all brackets, whatever their variables are.
std::vector<Change> changes_in(std::string_view text);

/// Appends what is written at `part`, with `changes` as they read.
/// @param file_text  of the whole file
void append_with_changes(ExpandedText& to, std::string_view file_text, Span part, const std::vector<Change>& changes);

}  // namespace raddle::tool::repl
