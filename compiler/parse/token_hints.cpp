#include "compiler/parse/token_hints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace raddle {

std::string hint_for_characters(std::string_view characters) {
  constexpr std::array starts = {
      Word{"&", "`and` is written `&&`"},
      Word{"'", "strings are written in double quotes"},
      Word{"`", "strings are written in double quotes"},
      Word{"?", conditional_values},
      Word{"^", "a power is written `**`"},
      Word{"\xE2\x80\x9C", "strings are written in straight double quotes"},
      Word{"\xE2\x80\x9D", "strings are written in straight double quotes"},
      Word{"\xE2\x80\x98", "strings are written in straight double quotes"},
      Word{"\xC2\xA0", "it is a blank that is no ASCII blank"},
  };
  for (const Word& entry : starts)
    if (characters.starts_with(entry.word)) return entry.help;
  return {};
}

std::string hint_for_number(std::string_view number) {
  constexpr std::string_view digits = "0123456789";
  std::string plain(number);
  if (number.find('_') != std::string_view::npos) {
    std::erase(plain, '_');
    if (plain.find_first_not_of(digits) == std::string::npos) return fmt::format("digits stand together: `{}`", plain);
    return {};
  }
  plain.resize(plain.find_last_not_of("fFlLuU") + 1);
  const bool is_number = plain.find_first_not_of("0123456789.eE") == std::string::npos && plain.size() < number.size();
  if (is_number && plain.find_last_of(digits) + 1 == plain.size())
    return fmt::format("a number has no suffix: `{}`{}", plain,
                       number.ends_with('f') || number.ends_with('F') ? "; where a `float32` is wanted it is one" : "");
  return {};
}

}  // namespace raddle
