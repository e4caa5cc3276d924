#pragma once
#include <cstdint>
#include <string_view>

#include "stdlib/builtins.hpp"

namespace raddle::tool {

/// For codegen, which does not link the library.
inline std::string_view builtin_name(std::uint32_t index) { return stdlib::builtins()[index].name; }

}  // namespace raddle::tool
