#pragma once
// A request as a line that can be typed: for messages.
#include <cstddef>
#include <limits>
#include <string>

#include "vm/external/processes.hpp"

namespace raddle::vm {

constexpr std::size_t whole_command = std::numeric_limits<std::size_t>::max();

/// The words, quoted for a shell where that is needed, and the redirections.
/// @param longest  number of bytes, about, beyond which words and ends of words are left out, and it says so
std::string shell_command(const ProcessRequest& request, std::size_t longest);

}  // namespace raddle::vm
