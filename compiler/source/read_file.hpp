#pragma once
#include <string>

namespace raddle {

/// Text of a file. @return false if it can not be read; `error` then says why
bool read_file(const std::string& path, std::string& text, std::string& error);

}  // namespace raddle
