#pragma once
// What the parts of the library in the language itself define, found without parsing them.
#include <string_view>
#include <vector>

namespace raddle::stdlib {

/// A function, type, constant or variable at top level: it begins in the first column.
struct Definition {
  std::string_view name;     ///< those that end in `_` are the module's own
  std::string_view head;     ///< without its body, or value
  std::string_view comment;  ///< the lines above it, as they stand there
  std::string_view text;     ///< all of it
  bool is_function = false;
};

/// @param text  of a module, for as long as the result is used
std::vector<Definition> definitions_of(std::string_view text);

}  // namespace raddle::stdlib
