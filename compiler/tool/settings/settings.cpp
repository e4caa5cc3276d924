#include "compiler/tool/settings/settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <expected>
#include <filesystem>
#include <functional>

#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/tool/command/session.hpp"
#include "compiler/tool/command/usage_error.hpp"
#include "compiler/tool/settings/setting_files.hpp"
#include "vm/value/standard_error.hpp"

namespace raddle::tool {

namespace {

/// In lower case with `-`: `RADDLE_KEEP_GOING`.
std::string variable_of(std::string_view name) {
  std::string variable = "RADDLE_";
  for (const char c : name) variable += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return variable;
}

constexpr const char* profile_variable = "RADDLE_PROFILE";

/// @return "" if it is not set
std::string variable_value(const std::string& variable) {
  const char* const value = std::getenv(variable.c_str());
  return value == nullptr ? "" : value;
}

/// A value, and how a mistake in it is told.
struct GivenValue {
  std::vector<std::string> values;
  std::function<int(const std::string& fault)> refuse;
};

std::vector<std::string> folders_of(const std::string& path) {
  std::vector<std::string> folders = CLI::detail::split(path, ':');
  std::erase(folders, "");
  return folders;
}

GivenValue from_variable(const Setting& setting, const std::string& value, std::string_view verb) {
  const std::string text = fmt::format("{}={}", variable_of(setting.name), value);
  return {.values = setting.kind == SettingKind::folders ? folders_of(value) : std::vector{value},
          .refuse = [text, verb](const std::string& fault) {
            return usage_error(fmt::format("in the environment, `{}`: {}", text, fault), std::string(verb));
          }};
}

GivenValue from_file(const SettingFile& file, const SettingKey& key, const Setting& setting) {
  std::vector<std::string> values = key.values;
  if (setting.kind == SettingKind::folders)  // beside the file, wherever raddle is started
    for (std::string& value : values)
      value = (std::filesystem::path(file.folder()) / value).lexically_normal().string();
  return {.values = values, .refuse = [&file, &key](const std::string& fault) {
            vm::print_stderr("{}", file.text_of({.at = key.value_at, .message = fault}));
            return exit_usage;
          }};
}

/// The first that counts comes first.
std::vector<GivenValue> values_of(const Setting& setting, const std::vector<SettingFile>& files, std::string_view verb,
                                  const std::string& profile) {
  std::vector<GivenValue> found;
  if (const std::string value = variable_value(variable_of(setting.name)); !value.empty())
    found.push_back(from_variable(setting, value, verb));
  const auto look_for = [&](const std::vector<std::string>& path) {
    for (const SettingFile& file : files)
      for (const bool is_of_verb : {true, false}) {
        std::vector<std::string> whole = path;
        if (is_of_verb) whole.emplace_back(verb);
        whole.emplace_back(setting.name);
        if (const SettingKey* key = file.find(whole)) found.push_back(from_file(file, *key, setting));
      }
  };
  if (!profile.empty()) look_for({"profile", profile});
  look_for({});
  return found;
}

/// @return an exit code if it does not take the value
std::optional<int> give(CLI::Option& option, const GivenValue& given) {
  if (given.values.empty()) return std::nullopt;
  try {
    for (const std::string& value : given.values) option.add_result(value);
    option.run_callback();
  } catch (const CLI::ConversionError&) {
    return given.refuse(fmt::format("this is no value of {}", option.get_name()));
  } catch (const CLI::ParseError& error) {
    const std::string message = error.what(), lead = option.get_name() + ": ";
    return given.refuse(message.starts_with(lead) ? message.substr(lead.size()) : message);
  }
  return std::nullopt;
}

int unknown_profile(const std::string& profile, const std::vector<SettingFile>& files) {
  std::vector<std::string> known, paths;
  for (const SettingFile& file : files) {
    paths.push_back(fmt::format("`{}`", file.path));
    for (const std::string& name : file.profiles()) known.push_back(name);
  }
  const std::string nearest = nearest_name(profile, known);
  vm::print_stderr("raddle: no profile is called `{}`{}\n  = help: {}\n", profile,
                   nearest.empty() ? "" : fmt::format("; did you mean `{}`?", nearest),
                   !known.empty()
                       ? fmt::format("there {}: {}", known.size() == 1 ? "is" : "are", fmt::join(known, ", "))
                       : fmt::format("it is a table [profile.{}] in {}", profile,
                                     paths.empty() ? "`raddle.toml`" : fmt::format("{}", fmt::join(paths, ", "))));
  return exit_usage;
}

/// `--keep-going` of KEEP_GOING
std::string option_of(std::string_view variable) {
  std::string option = "--";
  for (const char sign : variable)
    option += sign == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(sign)));
  return option;
}

/// A variable that is an option but no setting, or nearly a setting, is a mistake; any other one may be somebody
/// else's.
void warn_of_mistaken_variables(const CLI::App& app) {
  constexpr std::string_view lead = "RADDLE_";
  std::vector<std::string> known = {std::string(profile_variable).substr(lead.size())};
  for (const Setting& setting : settings()) known.push_back(variable_of(setting.name).substr(lead.size()));
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view entry = *each;
    if (!entry.starts_with(lead)) continue;
    const std::string name(entry.substr(lead.size(), entry.find('=') - lead.size()));
    if (std::ranges::find(known, name) != known.end()) continue;
    const std::string option = option_of(name);
    if (app.get_option_no_throw(option) != nullptr)
      warn(fmt::format("in the environment, `{}{}` sets nothing: `{}` stands on the command line only", lead, name,
                       option));
    else if (const std::string nearest = nearest_name(name, known); !nearest.empty())
      warn(fmt::format("in the environment, `{0}{1}` sets nothing; did you mean `{0}{2}`?", lead, name, nearest));
  }
}

bool is_given(const CLI::App& app, const std::string& option_name) {
  const CLI::Option* const option = app.get_option_no_throw(option_name);
  return option != nullptr && option->count() != 0;
}

}  // namespace

std::optional<int> apply_settings(CLI::App& app, std::string_view verb, const std::string& profile) {
  std::vector<SettingFile> files;
  for (const std::string& path : setting_paths())
    if (std::expected<std::optional<SettingFile>, std::string> file = SettingFile::read(path); !file) {
      vm::print_stderr("{}", file.error());
      return exit_usage;
    } else if (*file) {
      files.push_back(std::move(**file));
    }
  if (!is_given(app, "--quiet")) warn_of_mistaken_variables(app);
  const std::string chosen = profile.empty() ? variable_value(profile_variable) : profile;
  const auto has_profile = [&](const SettingFile& file) { return std::ranges::count(file.profiles(), chosen) != 0; };
  if (!chosen.empty() && std::ranges::none_of(files, has_profile)) return unknown_profile(chosen, files);
  for (const Setting& setting : settings()) {
    if (!setting.is_of(verb)) continue;
    const std::string option_name = fmt::format("--{}", setting.name);
    const bool is_list = setting.kind == SettingKind::folders;
    if (!is_list && is_given(app, option_name)) continue;
    for (const GivenValue& given : values_of(setting, files, verb, chosen)) {
      if (const std::optional<int> code = give(*app.get_option(option_name), given)) return code;
      if (!is_list) break;
    }
  }
  return std::nullopt;
}

void add_profile_option(CLI::App& app, std::string& profile) {
  app.add_option("--profile", profile, "Take the settings of [profile.NAME] in raddle.toml first")->type_name("NAME");
}

std::vector<SettingSource> setting_sources() {
  std::vector<SettingSource> sources;
  std::vector<std::string> names = {"profile"};
  for (const Setting& setting : settings()) names.emplace_back(setting.name);
  for (const std::string& name : names)
    if (const std::string value = variable_value(variable_of(name)); !value.empty())
      sources.push_back({fmt::format("{}={}", variable_of(name), value), true});
  const std::vector<std::string> paths = setting_paths();
  if (paths.empty() || !paths.front().ends_with(project_name)) sources.push_back({project_name, false, ""});
  for (const std::string& path : paths) {
    const std::expected<std::optional<SettingFile>, std::string> file = SettingFile::read(path);
    sources.push_back({path, !file || *file, file ? "" : file.error().substr(0, file.error().find('\n'))});
  }
  return sources;
}

}  // namespace raddle::tool
