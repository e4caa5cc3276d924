#pragma once
// The format of printf, sprintf and the operator `%`: that of Tcl's `format`.
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "vm/value/value.hpp"

namespace raddle::stdlib {

/// A width or precision: not there, a number (at most 2^24 + 1, which is refused), or `*`, the next value.
struct FormatField {
  std::optional<std::int64_t> number = {};
  bool is_star = false;
};

/// `%2$-08.3f`
struct FormatSpecifier {
  std::string_view written = {};              ///< from the percent sign on
  std::optional<std::int64_t> position = {};  ///< the 2 of `2$`
  std::string flags = {};                     ///< each once
  FormatField width = {};
  std::optional<FormatField> precision = {};  ///< there is a point
  std::string_view conversion = {};           ///< one character of UTF-8; empty: the format ends before
};

/// @param format  begins with a percent sign that is not doubled; moved behind the specifier
FormatSpecifier read_specifier(std::string_view& format);

/// `%d %i %u %x %X %o %b %c %s %f %e %E %g %G %%`, flags `- + 0 space #`, width, precision, `*`, `%1$s`; the sizes
/// `h l L ll` are accepted and mean nothing. Widths count characters. Superfluous values are ignored.
/// @param values  int, float, boolean, string
/// @return        the text of the error, as Tcl gives it: "expected integer but got "3.0""
std::expected<std::string, std::string> format_text(std::string_view format, std::span<const vm::Value> values);

}  // namespace raddle::stdlib
