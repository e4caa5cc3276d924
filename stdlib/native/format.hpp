#pragma once
// The format of printf, sprintf and the operator `%`: that of Tcl's `format`.
#include <expected>
#include <span>
#include <string>
#include <string_view>

#include "vm/value/value.hpp"

namespace raddle::stdlib {

/// `%d %i %u %x %X %o %b %c %s %f %e %E %g %G %%`, flags `- + 0 space #`, width, precision, `*`, `%1$s`; the sizes
/// `h l L ll` are accepted and mean nothing. Widths count characters. Superfluous values are ignored.
/// @param values  int, float, boolean, string
/// @return        the text of the error, as Tcl gives it: "expected integer but got "3.0""
std::expected<std::string, std::string> format_text(std::string_view format, std::span<const vm::Value> values);

}  // namespace raddle::stdlib
