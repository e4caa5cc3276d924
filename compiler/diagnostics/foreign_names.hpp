#pragma once
// Names that users of other languages type, and what this language has instead.
#include <cstdint>
#include <string_view>

namespace raddle {

enum class NameUse : std::uint8_t { type, variable, function, member, module };

/// Help for `name`, used as such although nothing has that name; "" if nothing is known of it.
std::string_view help_for_foreign_name(std::string_view name, NameUse use);

}  // namespace raddle
