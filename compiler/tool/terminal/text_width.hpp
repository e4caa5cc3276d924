#pragma once
// UTF-8 and how many columns of a terminal it takes.
#include <cstddef>
#include <string_view>

namespace raddle::terminal {

/// The character that begins at byte `at`, which moves behind it. Bytes that are no UTF-8 count as U+FFFD, one by one.
char32_t take_character(std::string_view text, std::size_t& at);

/// 0 for what is drawn over the character before, 2 for wide ones.
std::size_t width_of(char32_t character);

std::size_t text_width(std::string_view text);

/// Where the character behind `at` ends, with all that is drawn over it; the text's end at its end.
std::size_t next_character(std::string_view text, std::size_t at);
/// Where the character before `at` begins; 0 at the beginning.
std::size_t previous_character(std::string_view text, std::size_t at);

}  // namespace raddle::terminal
