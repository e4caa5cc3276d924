#pragma once
#include <string>
#include <string_view>

namespace raddle {

/// The text as a script would write it: `"one\ntwo"`.
std::string string_literal(std::string_view text);

}  // namespace raddle
