#pragma once
// Strings count characters (code points), not bytes. Text that is not valid UTF-8 is never refused:
// a byte that can not begin a character counts as one.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace raddle::stdlib::native {

/// Number of characters.
std::size_t utf8_length(std::string_view text);
/// Byte position of character `index`; the text's size if it has fewer.
std::size_t utf8_offset(std::string_view text, std::size_t index);
/// Bytes of the character that begins at `offset`, at least 1.
std::size_t utf8_width(std::string_view text, std::size_t offset);
/// Appends a code point; those out of range become U+FFFD.
void utf8_append(std::string& text, std::uint32_t code_point);
/// The code point that begins at `offset`; a stray byte as itself.
std::uint32_t utf8_code_point(std::string_view text, std::size_t offset);
/// The text, with U+FFFD for each byte that belongs to no character.
std::string utf8_repaired(std::string_view text);

}  // namespace raddle::stdlib::native
