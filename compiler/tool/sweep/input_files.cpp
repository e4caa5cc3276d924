#include "compiler/tool/sweep/input_files.hpp"

#include <algorithm>
#include <filesystem>

#include "compiler/tool/formats/json_text.hpp"
#include "compiler/tool/formats/path_text.hpp"
#include "vm/record/named_files.hpp"

namespace raddle::sweep {
namespace {

constexpr const char* edited_mark = "changed meanwhile";  // in place of a version

bool is_file(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
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

InputFiles::Inputs InputFiles::at_begin(const std::vector<std::string>& words, const std::vector<std::string>& files) {
  Inputs inputs;
  const auto add = [&](const vm::NamedFile& file) {
    if (std::ranges::find(inputs, file.name, &Input::path) == inputs.end()) inputs.push_back(now(file));
  };
  for (const vm::NamedFile& file : vm::named_files(words)) add(file);
  for (const std::string& path : files)
    if (is_file(path)) add({.name = path});
  return inputs;
}

InputFiles::Inputs InputFiles::at_begin(const std::vector<std::string>& words, const Point& point) {
  Inputs inputs = at_begin(words, std::vector<std::string>());
  for (const vm::NamedFile& file : declared(point)) {
    const auto known = std::ranges::find(inputs, file.name, &Input::path);
    if (known == inputs.end())
      inputs.push_back(now(file));
    else
      known->is_certain = true;
  }
  return inputs;
}

InputFiles::Input InputFiles::now(const vm::NamedFile& file) {
  Input input{.path = file.name, .version = "", .is_certain = file.is_certain, .state = vm::state_of(file.name)};
  input.version = vm::version_of(files_, file);
  const std::lock_guard lock(mutex_);
  input.has_changed_before = have_changed_.contains(file.name);
  return input;
}

std::vector<vm::NamedFile> InputFiles::declared(const Point& point) const {
  std::vector<vm::NamedFile> files;
  for (const CommandTemplate& path : declared_)
    files.push_back({.name = path.words_for(point, {}).front(), .is_certain = true});
  return files;
}

std::string InputFiles::at_end(const Inputs& inputs, const Outputs& outputs) {
  JsonObject kept;
  bool has_any = false;
  for (const auto& [path, was_there] : outputs) {
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) continue;
    kept.add(path_text(path), json_string(vm::output_mark(!was_there)));
    has_any = true;
  }
  for (const Input& input : inputs) {
    const End end = note(input);
    if (end == End::written || outputs.contains(input.path)) continue;
    kept.add(path_text(input.path), json_string(end == End::edited ? edited_mark : input.version));
    has_any = true;
  }
  return has_any ? kept.text() : "";
}

InputFiles::End InputFiles::note(const Input& input) {
  const bool is_untouched =
      vm::state_of(input.path) == input.state && vm::has_version(files_, input.path, input.version);
  const std::lock_guard lock(mutex_);
  if ((is_untouched || input.is_certain) && read_.size() < most_noted) read_.insert(input.path);
  if (is_untouched) return End::as_before;
  const bool is_written = input.has_changed_before && !input.is_certain && !read_.contains(input.path);
  const End end = is_written ? End::written : End::edited;
  if (have_changed_.size() < most_noted) {
    have_changed_.insert(input.path);
    End& noted = changed_.try_emplace(input.path, end).first->second;
    if (is_written) noted = end;
  }
  return end;
}

void InputFiles::note_earlier(const std::vector<std::pair<std::string, std::string>>& known) {
  const std::lock_guard lock(mutex_);
  for (const auto& [path, version] : known) {
    std::unordered_set<std::string>& paths = version == edited_mark ? have_changed_ : read_;
    if (paths.size() < most_noted && !vm::named_as(path, version).is_output) paths.insert(path);
  }
}

std::optional<InputFiles::Change> InputFiles::changed(const std::string& inputs, const Point& point) {
  auto known = json_members(inputs);
  for (auto& [path, version] : known) path = path_of_text(path);
  note_earlier(known);
  for (const auto& [path, version] : known)
    if (!vm::has_version(files_, path, version)) return Change{path, vm::named_as(path, version).is_output};
  for (const vm::NamedFile& file : declared(point))
    if (std::ranges::find(known, file.name, [](const auto& each) { return each.first; }) == known.end())
      return Change{file.name};
  return std::nullopt;
}

InputFiles::Changes InputFiles::changes() {
  const std::lock_guard lock(mutex_);
  Changes changes;
  for (const auto& [path, end] : changed_) (end == End::edited ? changes.edited : changes.written).push_back(path);
  std::ranges::sort(changes.edited);
  std::ranges::sort(changes.written);
  return changes;
}

}  // namespace raddle::sweep
