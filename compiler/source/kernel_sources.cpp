#include "compiler/source/kernel_sources.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <system_error>

#include "compiler/source/read_file.hpp"

namespace raddle {
namespace {

bool read_regular_file(SourceFile& file, std::string& error) {
  std::error_code ignored;
  if (std::filesystem::exists(file.path, ignored) && !std::filesystem::is_regular_file(file.path, ignored)) {
    error = "it is no regular file";
    return false;
  }
  return read_file(file.path, file.text, error);
}

}  // namespace

std::vector<Include> includes_of(const std::string& text) {
  std::vector<Include> includes;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::size_t at = line.find_first_not_of(" \t");
    if (at == std::string::npos || line[at] != '#') continue;
    at = line.find_first_not_of(" \t", at + 1);
    if (at == std::string::npos || line.compare(at, 7, "include") != 0) continue;
    const std::size_t open = line.find_first_of("\"<", at);
    const bool is_quoted = open != std::string::npos && line[open] == '"';
    const std::size_t close = open == std::string::npos ? open : line.find(is_quoted ? '"' : '>', open + 1);
    includes.push_back(close == std::string::npos ? Include{}
                                                  : Include{line.substr(open + 1, close - open - 1), is_quoted});
  }
  return includes;
}

std::string place_beside(const SourceFile& file, const std::string& name) {
  return (std::filesystem::path(file.path).parent_path() / name).lexically_normal().string();
}

std::expected<std::vector<SourceFile>, std::string> kernel_sources(const std::string& path) {
  std::vector<SourceFile> files{{path, ""}};
  std::string error;
  if (!read_regular_file(files[0], error)) return std::unexpected(error);
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (const Include& include : includes_of(files[i].text)) {
      if (!include.is_quoted) continue;
      SourceFile file{place_beside(files[i], include.name), ""};
      if (std::ranges::find(files, file.path, &SourceFile::path) == files.end() && read_regular_file(file, error))
        files.push_back(std::move(file));
    }
  }
  return files;
}

}  // namespace raddle
