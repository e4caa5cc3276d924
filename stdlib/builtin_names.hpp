#pragma once
// Names of library functions as one word each: overloads share a name in the library's table, so the second is written
// `abs.1`, the third `abs.2`.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace raddle::stdlib {

std::string builtin_text(std::uint32_t index);
/// @return the index into builtins()
std::optional<std::uint32_t> find_builtin(std::string_view text);

}  // namespace raddle::stdlib
