#pragma once
// Reads the text form of the IR (see print.hpp): for tests of passes from text to text.
#include <expected>
#include <string>
#include <string_view>

#include "compiler/ir/module.hpp"

namespace raddle::ir {

/// @param types  gets the structures and distinct types that the text defines; must outlive the module
/// @return       the module, not verified; or what is wrong, with its line
std::expected<Module, std::string> read_text(std::string_view text, TypeStore& types);

}  // namespace raddle::ir
