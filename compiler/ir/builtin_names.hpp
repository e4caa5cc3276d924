#pragma once
// Names of library functions in the text of the IR: overloads share a name in the library's table, so the second is
// written `abs.1`, the third `abs.2`.
#include <cstdint>
#include <string>
#include <string_view>

namespace raddle::ir {

std::string builtin_text(std::uint32_t index);
/// @return the index into stdlib::builtins(), or none
std::uint32_t find_builtin(std::string_view text);

}  // namespace raddle::ir
