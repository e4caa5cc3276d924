#pragma once
// Booleans in tables, as other programs write them.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace raddle::stdlib::native {

/// `true`, `T`, `1`, ... in letters of any case; none: it is no boolean
inline std::optional<bool> truth_of_field(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char each) { return each >= 'A' && each <= 'Z' ? each + 32 : each; });
  if (lower == "true" || lower == "t" || lower == "1") return true;
  if (lower == "false" || lower == "f" || lower == "0") return false;
  return std::nullopt;
}

}  // namespace raddle::stdlib::native
