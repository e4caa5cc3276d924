#pragma once
// What to write instead of characters and numbers as other languages have them. Private to compiler/parse.
#include <string>
#include <string_view>

namespace raddle {

struct Word {
  std::string_view word;
  const char* help;
};

inline constexpr const char* conditional_values =
    "there is no conditional expression: `ternary(condition, a, b)` is one of two values, `where(condition, a, b)` of "
    "`import arrays;` is that of each element; or write `if (condition) { x = 1; } else { x = 2; }`";

/// Help for characters that begin no token, or "".
/// @param characters  not empty
std::string hint_for_characters(std::string_view characters);

/// Help for what begins like a number but is none, `1_000`, `1.5f`, `100L`, or "".
std::string hint_for_number(std::string_view number);

}  // namespace raddle
