#include "compiler/sweep/input_files.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "compiler/sweep/json_text.hpp"
#include "compiler/sweep/path_text.hpp"
#include "vm/record/file_version.hpp"

namespace raddle::sweep {
namespace {

bool is_file(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

/// What is run, by itself or by an interpreter: `./model`, `model.py`.
bool is_program(const std::string& path) {
  static constexpr std::array suffixes = {".py", ".R",  ".r",   ".jl", ".sh",  ".m",
                                          ".pl", ".rb", ".lua", ".js", ".tcl", ".df"};
  if (!is_file(path)) return false;
  return access(path.c_str(), X_OK) == 0 ||
         std::ranges::any_of(suffixes, [&](const char* suffix) { return path.ends_with(suffix); });
}

/// The word that names the program, behind those that start it, as `python3 -u`, `nice -n 5`, `mpirun`. A program that
/// is looked up in PATH is the system's. words.size(): none
std::size_t program_word(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i)
    if ((i > 0 || words[i].find('/') != std::string::npos) && is_program(words[i])) return i;
  return words.size();
}

}  // namespace

std::expected<std::vector<CommandTemplate>, OptionError> InputFiles::parse(const std::vector<std::string>& declared,
                                                                           const std::vector<Parameter>& parameters) {
  std::vector<CommandTemplate> paths;
  for (const std::string& path : declared) {
    auto parsed = CommandTemplate::parse({path}, parameters);
    if (!parsed) return std::unexpected(OptionError{"--input", path, std::move(parsed.error().error)});
    if (parsed->uses(CommandTemplate::slot) || parsed->uses(CommandTemplate::folder))
      return std::unexpected(
          OptionError{"--input", path, {"what is read is no file of the run's own", 0, path.size(), ""}});
    if (!parsed->has_placeholders() && !is_file(path))
      return std::unexpected(OptionError{"--input", path, {"there is no such file", 0, path.size(), ""}});
    paths.push_back(std::move(*parsed));
  }
  return paths;
}

InputFiles::Inputs InputFiles::at_begin(const std::vector<std::string>& words, const std::vector<std::string>& files,
                                        const Point& point) {
  Inputs inputs;
  const auto add = [&](const std::string& path, bool is_certain) {
    if (std::ranges::find(inputs, path, &Input::path) == inputs.end())
      inputs.push_back({path, vm::file_version(files_, path), is_certain});
  };
  const std::size_t program = program_word(words);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i == 0 && program != 0) continue;
    const std::size_t sign = words[i].find('=');  // --table=FILE
    if (is_file(words[i]))
      add(words[i], i == program);
    else if (sign != std::string::npos && is_file(words[i].substr(sign + 1)))
      add(words[i].substr(sign + 1), false);
  }
  for (const std::string& path : files)
    if (is_file(path)) add(path, false);
  for (const CommandTemplate& path : declared_) add(path.words_for(point, {}).front(), true);
  return inputs;
}

std::string InputFiles::at_end(const Inputs& inputs) {
  JsonObject kept;
  bool has_any = false;
  for (const Input& input : inputs) {
    if (!note(input)) continue;
    kept.add(path_text(input.path), json_string(input.version));
    has_any = true;
  }
  return has_any ? kept.text() : "";
}

bool InputFiles::note(const Input& input) {
  const bool is_as_before = vm::file_version(files_, input.path) == input.version;
  const std::lock_guard lock(mutex_);
  if ((is_as_before || input.is_certain) && read_.size() < most_noted) read_.insert(input.path);
  if (!is_as_before && changed_.size() < most_noted) changed_.insert(input.path);
  return is_as_before || input.is_certain || read_.contains(input.path);
}

std::optional<std::string> InputFiles::changed(const std::string& inputs, const Point& point) {
  auto known = json_members(inputs);
  for (auto& [path, version] : known) path = path_of_text(path);
  for (const auto& [path, version] : known)
    if (vm::file_version(files_, path) != version) return path;
  for (const CommandTemplate& declared : declared_) {
    const std::string path = declared.words_for(point, {}).front();
    if (std::ranges::find(known, path, [](const auto& each) { return each.first; }) == known.end()) return path;
  }
  return std::nullopt;
}

InputFiles::Changes InputFiles::changes() {
  const std::lock_guard lock(mutex_);
  Changes changes;
  for (const std::string& path : changed_) (read_.contains(path) ? changes.edited : changes.written).push_back(path);
  std::ranges::sort(changes.edited);
  std::ranges::sort(changes.written);
  return changes;
}

}  // namespace raddle::sweep
