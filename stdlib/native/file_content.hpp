#pragma once
// Whole files in and out of memory, with the error texts of library functions.
#include <expected>
#include <functional>
#include <string>
#include <string_view>

#include "vm/value/file.hpp"

namespace raddle::stdlib::native {

/// @return  the bytes, or "can not read `x`: no such file or directory"
std::expected<std::string, std::string> read_file(const std::string& path);
/// Writes the file as vm::write_whole() does, or says "can not write `x`: no space left on device".
std::expected<std::optional<vm::FileIdentity>, std::string> write_file(const std::string& path, std::string_view bytes);
/// Writes an output. @param fill  as that of vm::write_whole()
std::expected<void, std::string> write_file(vm::File& file, const std::function<int(int)>& fill);
std::expected<void, std::string> write_file(vm::File& file, std::string_view bytes);

/// What is to be said where an output without a name can not be made.
std::string no_temporary();

}  // namespace raddle::stdlib::native
