#pragma once
#include <fmt/format.h>

#include <cstddef>
#include <string>

namespace raddle::vm {

/// Bytes that a script's string may have. One that doubles again and again would take all memory, and where nobody
/// could tell.
inline constexpr std::size_t longest_string = std::size_t{1} << 30;

/// What is said of one that is longer.
inline std::string too_long_text(std::size_t bytes) {
  return fmt::format("a string of {} bytes is longer than 1 GiB, the most that there can be", bytes);
}

}  // namespace raddle::vm
