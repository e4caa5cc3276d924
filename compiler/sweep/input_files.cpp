#include "compiler/sweep/input_files.hpp"

#include <algorithm>
#include <filesystem>

#include "compiler/sweep/json_text.hpp"
#include "vm/record/file_version.hpp"

namespace raddle::sweep {
namespace {

bool is_file(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

/// The word that names the file that is the program, or that an interpreter runs: `./model`, `python3 model.py`. A
/// program that is looked up in PATH is the system's. words.size(): none
std::size_t program_word(const std::vector<std::string>& words) {
  if (words.empty()) return 0;
  if (words[0].find('/') != std::string::npos) return 0;
  return words.size() > 1 && is_file(words[1]) ? 1 : words.size();
}

}  // namespace

std::expected<std::vector<CommandTemplate>, OptionError> InputFiles::parse(const std::vector<std::string>& declared,
                                                                           const std::vector<Parameter>& parameters) {
  std::vector<CommandTemplate> paths;
  for (const std::string& path : declared) {
    auto parsed = CommandTemplate::parse({path}, parameters);
    if (!parsed) return std::unexpected(OptionError{"--input", path, std::move(parsed.error().error)});
    if (!parsed->has_placeholders() && !is_file(path))
      return std::unexpected(OptionError{"--input", path, {"there is no such file", 0, path.size(), ""}});
    paths.push_back(std::move(*parsed));
  }
  return paths;
}

InputFiles::Inputs InputFiles::at_begin(const std::vector<std::string>& words, const Point& point) {
  Inputs inputs;
  const auto add = [&](const std::string& path, bool is_certain) {
    if (std::ranges::find(inputs, path, &Input::path) == inputs.end())
      inputs.push_back({path, vm::file_version(files_, path), is_certain});
  };
  const std::size_t program = program_word(words);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool is_looked_up = i == 0 && program != 0;
    const std::size_t sign = words[i].find('=');  // --table=FILE
    if (is_looked_up) continue;
    if (is_file(words[i]))
      add(words[i], i == program);
    else if (sign != std::string::npos && is_file(words[i].substr(sign + 1)))
      add(words[i].substr(sign + 1), false);
  }
  for (const CommandTemplate& path : declared_) add(path.words_for(point, {}).front(), true);
  return inputs;
}

std::string InputFiles::at_end(const Inputs& inputs) {
  JsonObject kept;
  bool has_any = false;
  for (const Input& input : inputs) {
    if (!input.is_certain && vm::file_version(files_, input.path) != input.version) continue;
    kept.add(input.path, json_string(input.version));
    has_any = true;
  }
  return has_any ? kept.text() : "";
}

std::optional<std::string> InputFiles::changed(const std::string& inputs) {
  for (const auto& [path, version] : json_members(inputs))
    if (vm::file_version(files_, path) != version) return path;
  return std::nullopt;
}

}  // namespace raddle::sweep
