#pragma once
// Object code of a leaf -> LeafImage.
#include <expected>
#include <string>
#include <string_view>

#include "compiler/codegen/leaf_image.hpp"

namespace raddle::codegen {

/// @param object  an ELF object file for x86-64: position-independent, nothing in it that is written at run time
/// @param entry   the symbol of the function to call
/// @error         JITLink's text
std::expected<LeafImage, std::string> link_leaf(std::string_view object, std::string_view entry);

}  // namespace raddle::codegen
