#pragma once
// Words of a text: what stands between white space.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace raddle::stdlib {

inline std::vector<std::string> words_of(std::string_view text) {
  constexpr std::string_view spaces = " \t\n\v\f\r";
  std::vector<std::string> words;
  for (std::size_t begin = 0; (begin = text.find_first_not_of(spaces, begin)) != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(spaces, begin), text.size());
    words.emplace_back(text.substr(begin, end - begin));
    begin = end;
  }
  return words;
}

}  // namespace raddle::stdlib
