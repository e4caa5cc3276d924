#include "compiler/source/read_file.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "vm/value/file_descriptor.hpp"

namespace raddle {

bool read_file(const std::string& path, std::string& text, std::string& error) {
  std::error_code code;
  if (std::filesystem::is_directory(path, code)) {
    error = "it is a folder";
    return false;
  }
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream content;
  if (stream) content << stream.rdbuf();
  if (!stream || content.bad()) {
    error = vm::error_text(errno);
    return false;
  }
  text = std::move(content).str();
  return true;
}

}  // namespace raddle
