#pragma once
#include <string>

namespace raddle::codegen {

/// The digest of its content that the linker has written into a program or shared library. The file is not loaded.
/// @return "" if it has none, or is no such file
std::string build_id(const std::string& path);

}  // namespace raddle::codegen
