#include "compiler/source/kernel_sources.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <system_error>

#include "compiler/source/read_file.hpp"

namespace raddle {
namespace {

/// Names in `#include "name"`.
std::vector<std::string> included_names(const std::string& text) {
  std::vector<std::string> names;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::size_t at = line.find_first_not_of(" \t");
    if (at == std::string::npos || line[at] != '#') continue;
    at = line.find_first_not_of(" \t", at + 1);
    if (at == std::string::npos || line.compare(at, 7, "include") != 0) continue;
    const std::size_t open = line.find('"', at);
    const std::size_t close = open == std::string::npos ? open : line.find('"', open + 1);
    if (close != std::string::npos) names.push_back(line.substr(open + 1, close - open - 1));
  }
  return names;
}

bool read_regular_file(SourceFile& file, std::string& error) {
  std::error_code ignored;
  if (std::filesystem::exists(file.path, ignored) && !std::filesystem::is_regular_file(file.path, ignored)) {
    error = "it is no regular file";
    return false;
  }
  return read_file(file.path, file.text, error);
}

}  // namespace

std::expected<std::vector<SourceFile>, std::string> kernel_sources(const std::string& path) {
  std::vector<SourceFile> files{{path, ""}};
  std::string error;
  if (!read_regular_file(files[0], error)) return std::unexpected(error);
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (const std::string& name : included_names(files[i].text)) {
      const std::string beside =
          (std::filesystem::path(files[i].path).parent_path() / name).lexically_normal().string();
      SourceFile file{beside, ""};
      if (std::ranges::find(files, beside, &SourceFile::path) == files.end() && read_regular_file(file, error))
        files.push_back(std::move(file));
    }
  }
  return files;
}

}  // namespace raddle
