#pragma once
// Whole files in and out of memory, with the error texts of library functions.
#include <expected>
#include <string>
#include <string_view>

namespace raddle::stdlib::native {

/// @return  the bytes, or "can not read `x`: no such file or directory"
std::expected<std::string, std::string> read_file(const std::string& path);
/// Replaces the file, makes its folders. A file that can not be written in full is removed.
std::expected<void, std::string> write_file(const std::string& path, std::string_view bytes);

}  // namespace raddle::stdlib::native
