#include "compiler/tool/settings/setting_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/tool/command/session.hpp"
#include "compiler/source/read_file.hpp"
#include "compiler/tool/terminal/text_width.hpp"
#include "vm/value/environment.hpp"

namespace raddle::tool {

namespace {

/// The only list of options that are settings. What says what to do once is none, as -p, --resume and --emit; nor is
/// what changes results, as --seed: nothing on the command line or in the record would tell of it.
constexpr std::array all_settings = {
    Setting{"call-memory", SettingKind::number, "repl run"},
    Setting{"include", SettingKind::folders, "check graph repl run sweep"},
    Setting{"jobs", SettingKind::number, "sweep"},
    Setting{"keep-going", SettingKind::flag, "run sweep"},
    Setting{"max-fails", SettingKind::number_or_text, "sweep"},
    Setting{"memory", SettingKind::number_or_text, "repl run sweep"},
    Setting{"no-cache", SettingKind::flag, "run sweep"},
    Setting{"no-jit-cache", SettingKind::flag, "repl run sweep"},
    Setting{"no-record", SettingKind::flag, "run"},
    Setting{"patience", SettingKind::number, "repl"},
    Setting{"place", SettingKind::text, "repl run sweep"},
    Setting{"processes", SettingKind::number, "repl run"},
    Setting{"progress", SettingKind::text, "sweep"},
    Setting{"retries", SettingKind::number, "sweep"},
    Setting{"scheduler", SettingKind::text, "run"},
    Setting{"spill", SettingKind::text, "repl run sweep"},
    Setting{"time-limit", SettingKind::number_or_text, "sweep"},
    Setting{"timeout", SettingKind::number_or_text, "run sweep", /*differs_by_verb=*/true},
    Setting{"workers", SettingKind::number, "repl run sweep"},
};

bool takes(SettingKind kind, ValueForm form) {
  switch (kind) {
    case SettingKind::flag: return form == ValueForm::flag;
    case SettingKind::number: return form == ValueForm::number;
    case SettingKind::text: return form == ValueForm::text;
    case SettingKind::number_or_text: return form == ValueForm::number || form == ValueForm::text;
    case SettingKind::folders: return form == ValueForm::text || form == ValueForm::texts;
  }
  return false;
}

std::string_view text_of(SettingKind kind) {
  switch (kind) {
    case SettingKind::flag: return "true or false";
    case SettingKind::number: return "a whole number";
    case SettingKind::text: return "a string, in quotes";
    case SettingKind::number_or_text: return "a whole number, or a string in quotes";
    case SettingKind::folders: return "a string in quotes, or a list of them in brackets";
  }
  return "";
}

bool is_verb(std::string_view name) {
  return std::ranges::any_of(all_settings, [&](const Setting& setting) { return setting.is_of(name); });
}

/// @param verb  "": any
const Setting* find_setting(std::string_view name, std::string_view verb) {
  for (const Setting& setting : all_settings)
    if (setting.name == name && (verb.empty() || setting.is_of(verb))) return &setting;
  return nullptr;
}

std::vector<std::string> setting_names(std::string_view verb) {
  std::vector<std::string> names;
  for (const Setting& setting : all_settings)
    if (verb.empty() || setting.is_of(verb)) names.emplace_back(setting.name);
  return names;
}

std::vector<std::string> verbs_of(const Setting& setting) {
  std::vector<std::string> verbs;
  for (std::string_view rest = setting.verbs; !rest.empty();) {
    verbs.emplace_back(rest.substr(0, rest.find(' ')));
    rest.remove_prefix(std::min(verbs.back().size() + 1, rest.size()));
  }
  return verbs;
}

std::string did_you_mean(const std::string& name, const std::vector<std::string>& known, std::string_view otherwise) {
  const std::string nearest = nearest_name(name, known);
  return nearest.empty() ? std::string(otherwise) : fmt::format("did you mean `{}`?", nearest);
}

/// Of a table at the top of a file, or of a profile.
SettingFault unknown_table(const SettingKey& key) {
  const std::string& name = key.path.back();
  if (name == "rerun")
    return {key.at, "`rerun` has no table of its own", "it runs a sweep again, and goes by `[sweep]`"};
  std::vector<std::string> tables;
  for (const Setting& setting : all_settings)
    for (std::string& verb : verbs_of(setting))
      if (std::ranges::find(tables, verb) == tables.end()) tables.push_back(std::move(verb));
  std::ranges::sort(tables);
  const std::string all = fmt::format("tables are [{}], [profile.NAME]", fmt::join(tables, "], ["));
  tables.emplace_back("profile");
  return {key.at, fmt::format("`{}` is neither a verb that has settings nor `profile`", name),
          did_you_mean(name, tables, all)};
}

std::optional<SettingFault> fault_of(const SettingKey& key) {
  std::span<const std::string> path = key.path;
  const bool is_table = key.form == ValueForm::table;
  if (path.front() == "profile") {
    if (path.size() <= 2 && !is_table)
      return SettingFault{key.at, "a profile is a table", "[profile.NAME], and its settings below it"};
    if (path.size() <= 2) return std::nullopt;
    path = path.subspan(2);
  }
  const std::string& name = path.back();
  if (is_table && (path.size() > 1 || !is_verb(name))) return unknown_table(key);
  if (is_table) return std::nullopt;
  const std::string_view verb = path.size() > 1 ? std::string_view(path.front()) : "";
  const Setting* const setting = find_setting(name, verb);
  if (setting == nullptr && find_setting(name, "") != nullptr)
    return SettingFault{key.at, fmt::format("`raddle {}` has no option `--{}`", verb, name),
                        did_you_mean(name, setting_names(verb), "`raddle man` lists the settings of each verb")};
  if (setting == nullptr)
    return SettingFault{key.at, fmt::format("no setting is called `{}`", name),
                        did_you_mean(name, setting_names(verb),
                                     "`raddle man` lists the settings; other options stand on the command line only")};
  if (setting->differs_by_verb && verb.empty())
    return SettingFault{key.at, fmt::format("`{}` says something else to each verb", name),
                        fmt::format("it belongs into [{}]", fmt::join(verbs_of(*setting), "] or ["))};
  if (!takes(setting->kind, key.form))
    return SettingFault{key.value_at, fmt::format("`{}` takes {}", name, text_of(setting->kind))};
  return std::nullopt;
}

/// Others do not decide how a user's scripts are run: who has entered the folder of another user may mean it, but a
/// folder that is everybody's, as /tmp, and those above are nobody's choice.
/// @return why the file is passed over; "": it is not
std::string fault_of_owner(const struct stat& file, const struct stat& around, bool is_here) {
  const bool is_own = file.st_uid == geteuid() || file.st_uid == 0;
  if (!is_own && !(is_here && (around.st_mode & S_IWOTH) == 0)) return "is of another user";
  if ((file.st_mode & S_IWOTH) != 0) return "may be written by everybody";
  return "";
}

/// Says what is passed over, once.
bool is_taken(const std::string& path, const std::string& folder, bool is_here) {
  struct stat file, around;
  if (stat(path.c_str(), &file) != 0 || !S_ISREG(file.st_mode) || stat(folder.c_str(), &around) != 0) return false;
  const std::string fault = fault_of_owner(file, around, is_here);
  static std::set<std::string> told;
  if (!fault.empty() && told.insert(path).second) warn(fmt::format("`{}` {}: it is passed over", path, fault));
  return fault.empty();
}

/// That of this folder, or of the nearest one above that has one. "": there is none
std::string project_path() {
  std::error_code code;
  const std::filesystem::path here = std::filesystem::current_path(code);
  for (std::filesystem::path folder = here; !folder.empty(); folder = folder.parent_path()) {
    const std::string path = (folder / project_name).string();
    if (is_taken(path, folder.string(), folder == here)) return folder == here ? project_name : path;
    if (folder == folder.parent_path()) break;
  }
  return "";
}

}  // namespace

bool Setting::is_of(std::string_view verb) const {
  const std::size_t at = verbs.find(verb);
  return !verb.empty() && at != std::string_view::npos && (at == 0 || verbs[at - 1] == ' ') &&
         (at + verb.size() == verbs.size() || verbs[at + verb.size()] == ' ');
}

std::span<const Setting> settings() { return all_settings; }

std::expected<std::optional<SettingFile>, std::string> SettingFile::read(const std::string& path) {
  SettingFile file{.path = path, .text = "", .keys = {}};
  std::string error;
  if (access(path.c_str(), F_OK) != 0) return std::nullopt;
  if (!read_file(path, file.text, error))
    return std::unexpected(fmt::format("raddle: can not read `{}`: {}\n", path, error));
  std::expected<std::vector<SettingKey>, SettingFault> keys = read_setting_keys(file.text);
  if (!keys) return std::unexpected(file.text_of(keys.error()));
  file.keys = std::move(*keys);
  for (const SettingKey& key : file.keys)
    if (const std::optional<SettingFault> fault = fault_of(key)) return std::unexpected(file.text_of(*fault));
  return file;
}

std::string SettingFile::folder() const { return std::filesystem::path(path).parent_path().string(); }

std::vector<std::string> SettingFile::profiles() const {
  std::vector<std::string> names;
  for (const SettingKey& key : keys)
    if (key.path.size() == 2 && key.path.front() == "profile") names.push_back(key.path.back());
  return names;
}

const SettingKey* SettingFile::find(const std::vector<std::string>& key_path) const {
  const auto found = std::ranges::find(keys, key_path, &SettingKey::path);
  return found == keys.end() ? nullptr : &*found;
}

std::string SettingFile::text_of(const SettingFault& fault) const {
  std::string_view rest = text;
  for (std::uint32_t line = 1; line < fault.at.line; ++line)
    rest.remove_prefix(std::min(rest.find('\n') + 1, rest.size()));
  const std::string_view line = rest.substr(0, rest.find('\n'));
  const std::string number = std::to_string(fault.at.line);
  std::size_t at = 0;  // the column counts characters
  for (std::uint32_t column = 1; column < fault.at.column && at < line.size(); ++column)
    terminal::take_character(line, at);
  std::string told = fmt::format("{}:{}:{}: error: {}\n", path, number, fault.at.column, fault.message);
  told += fmt::format("  {} | {}\n  {:{}} | {:{}}^\n", number, line, "", number.size(), "",
                      terminal::text_width(line.substr(0, at)));
  if (!fault.help.empty()) told += fmt::format("  {:{}} = help: {}\n", "", number.size(), fault.help);
  return told;
}

std::vector<std::string> setting_paths() {
  std::vector<std::string> paths;
  if (const std::string project = project_path(); !project.empty()) paths.push_back(project);
  std::string user = vm::environment_path("XDG_CONFIG_HOME");
  if (const std::string home = vm::environment_path("HOME"); user.empty() && !home.empty()) user = home + "/.config";
  if (!user.empty()) paths.push_back(user + "/raddle/config.toml");
  paths.emplace_back("/etc/raddle/config.toml");
  return paths;
}

}  // namespace raddle::tool
