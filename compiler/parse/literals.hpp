#pragma once
// Values of literals. No ANTLR here.
#include <cstdint>
#include <string>
#include <string_view>

#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/source/source_buffer.hpp"

namespace raddle {

/// Value of an integer literal: `12`, `0x1F`, `0o17`. Too large: reported, the result is 0.
/// @param negated  a `-` stands right before it: 9223372036854775808 is allowed then
/// @return         the value after negation, if `negated`
std::int64_t integer_value(std::string_view text, bool negated, Span span, Diagnostics& diagnostics);

/// Value of a float literal, `NaN` and `inf` included. Too large: reported, the result is 0.
double float_value(std::string_view text, Span span, Diagnostics& diagnostics);

/// Value of a string literal with its quotes or `----` marks; a closing mark may be missing. Escapes are resolved to
/// UTF-8; unknown ones and bytes that are no UTF-8 are reported.
std::string string_value(std::string_view text, Span span, Diagnostics& diagnostics);

/// Length of the UTF-8 sequence at the start of `text` (not empty), 0 if it is none.
std::size_t utf8_length(std::string_view text);

}  // namespace raddle
