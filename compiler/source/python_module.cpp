#include "compiler/source/python_module.hpp"

#include <algorithm>
#include <filesystem>

namespace raddle {

std::optional<std::string> python_module_file(const std::string& folder, const std::string& module) {
  std::string below = module;
  std::ranges::replace(below, '.', '/');
  const std::string path = (std::filesystem::path(folder) / below).string();
  std::error_code error;
  for (const char* const ending : {".py", "/__init__.py"})
    if (std::filesystem::is_regular_file(path + ending, error)) return path + ending;
  return std::nullopt;
}

}  // namespace raddle
