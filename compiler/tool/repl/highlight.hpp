#pragma once
// Colours of what is being typed.
#include <string_view>
#include <vector>

#include "compiler/tool/terminal/screen.hpp"

namespace raddle::tool::repl {

std::vector<terminal::StyledRange> highlight(std::string_view text);

/// The language's reserved words and the names of its own types, sorted.
std::vector<std::string_view> keywords();
std::vector<std::string_view> basic_types();

}  // namespace raddle::tool::repl
