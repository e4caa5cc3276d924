#include "compiler/tool/command/script.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <iterator>
#include <system_error>

#include "compiler/source/read_file.hpp"
#include "compiler/tool/command/usage_error.hpp"

namespace raddle::tool {

Script typed_script(const std::string& code) { return {"<command line>", code}; }

std::expected<Script, int> read_script(const std::string& word, const std::string& verb, const std::string& hint) {
  if (word == "-") return Script{"<stdin>", std::string(std::istreambuf_iterator<char>(std::cin), {})};
  std::string text, error;
  if (!read_file(word, text, error))
    return std::unexpected(usage_error(fmt::format("can not read `{}`: {}{}", word, error, hint), verb));
  return Script{word, std::move(text)};
}

void warn_of_missing_folders(const Options& options) {
  if (options.is_quiet) return;
  for (const std::string& folder : options.include_folders) {
    std::error_code code;
    if (!std::filesystem::is_directory(folder, code))
      warn(fmt::format("there is no folder `{}` to look for imports in", folder));
  }
  for (const std::string& folder : options.package_folders) {
    std::error_code code;
    if (!std::filesystem::is_directory(folder, code))
      warn(fmt::format("there is no folder `{}` to look for packages in", folder));
  }
}

}  // namespace raddle::tool
