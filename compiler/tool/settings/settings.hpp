#pragma once
// Settings: what options are where the command line does not give them, by the environment and configuration files.
#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace raddle::tool {

/// Gives options that the command line leaves out the values that they have in `RADDLE_<OPTION>`, in the profile, in
/// the project's file, in the user's and in the system's, whichever comes first; to `--include` all of these are added.
/// @param app      has read the command line
/// @param profile  "": that of RADDLE_PROFILE
/// @return         an exit code if something is wrong with them, all said
std::optional<int> apply_settings(CLI::App& app, std::string_view verb, const std::string& profile);

/// `--profile`.
void add_profile_option(CLI::App& app, std::string& profile);

/// Where settings may come from.
struct SettingSource {
  std::string name;  ///< a path, or `RADDLE_JOBS=4`
  bool is_there = false;
  std::string fault = "";  ///< a line
};
/// Variables that are set, and all files that are looked for.
std::vector<SettingSource> setting_sources();

}  // namespace raddle::tool
