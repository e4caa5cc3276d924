#pragma once
// One style for scripts. The line breaks between statements and inside brackets are the author's; blanks, indentation,
// braces, blank lines, and breaks in lines that are too long are ours.
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "compiler/source/source_buffer.hpp"

namespace raddle::format {

/// Lines are made no longer where they can be broken; in characters.
inline constexpr std::size_t line_width = 100;

/// Why a text can not be formatted.
struct Fault {
  std::uint32_t begin, end;  ///< bytes of the text
  std::string message;       ///< what is not supported
};

/// Formats a script that parses. Tokens, comments and preprocessor lines stay what they are and in their order, so that
/// the meaning stays; formatting twice is formatting once.
std::expected<std::string, Fault> format_script(std::string_view text);

}  // namespace raddle::format
