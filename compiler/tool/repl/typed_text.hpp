#pragma once
// What a text that was typed looks like, and what its errors tell of it.
#include <cstdint>
#include <string_view>
#include <utility>

#include "compiler/diagnostics/diagnostics.hpp"

namespace raddle::tool::repl {

/// Without those in the end.
std::string_view without_blanks(std::string_view text);

bool ends_with_semicolon(std::string_view text);

/// Where it is. @pre has_errors()
const Diagnostic& first_error(const Diagnostics& diagnostics);

/// How much of what was typed a form explains, by its first error: `1e400` is a number that is too large rather than no
/// statement. A form in which something is not expected may be the wrong one.
std::pair<bool, std::uint32_t> explained(const Diagnostics& diagnostics);

/// A comment, or a string of several lines, is open.
bool opens_lines(const Diagnostics& diagnostics, std::string_view text);

/// What is typed needs no `;` in the end: that one is missing says nothing.
bool lacks_only_semicolon(const Diagnostics& diagnostics, std::string_view text);

/// Where the last statement of the text begins, going by `;` and `}` outside of brackets; 0: it is the only one.
std::uint32_t begin_of_last(std::string_view text);

}  // namespace raddle::tool::repl
