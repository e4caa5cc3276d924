#pragma once
// A request as a line that can be typed: for messages.
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "vm/external/processes.hpp"

namespace raddle::vm {

constexpr std::size_t whole_command = std::numeric_limits<std::size_t>::max();

/// Quoted where that is needed, in one line and valid UTF-8: `$'a\nb'` for what else no line can have; bash, zsh, ksh
/// and POSIX since 2024 know it.
std::string shell_word(std::string_view word);
/// All words.
std::string shell_line(const std::vector<std::string>& words);

/// The words, quoted for a shell where that is needed, and the redirections.
/// @param longest  number of bytes, about, beyond which words and ends of words are left out, and it says so
std::string shell_command(const ProcessRequest& request, std::size_t longest);

}  // namespace raddle::vm
