#include "vm/value/matching_paths.hpp"

#include <glob.h>
#include <sys/stat.h>

#include <string_view>

#include "vm/value/zero_byte.hpp"

namespace raddle::vm {
namespace {

constexpr std::string_view special_signs = "*?[{\\";

std::string escaped(const std::string& name) {
  std::string text;
  for (const char sign : name) {
    if (special_signs.contains(sign)) text += '\\';
    text += sign;
  }
  return text;
}

/// How much of it, from the beginning, is the name of something that is there.
std::size_t literal_length(const std::string& pattern) {
  std::size_t length = 0;
  for (std::size_t end = 0; end <= pattern.size(); ++end) {
    if (end != pattern.size() && pattern[end] != '/') continue;
    struct stat status;
    if (end != 0 && lstat(pattern.substr(0, end).c_str(), &status) != 0) break;
    length = end;
  }
  return length;
}

}  // namespace

bool is_pattern(const std::string& path) { return path.find_first_of(special_signs) != std::string::npos; }

std::optional<std::vector<std::string>> matching_paths(const std::string& pattern) {
  if (has_zero_byte(pattern)) return std::vector<std::string>();  // no path has one
  const std::size_t literal = is_pattern(pattern) ? literal_length(pattern) : 0;
  glob_t found{};
  const int error =
      glob((escaped(pattern.substr(0, literal)) + pattern.substr(literal)).c_str(), GLOB_BRACE, nullptr, &found);
  std::vector<std::string> paths(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  if (error == GLOB_NOSPACE) return std::nullopt;
  return paths;
}

}  // namespace raddle::vm
