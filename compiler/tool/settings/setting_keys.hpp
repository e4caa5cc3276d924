#pragma once
// The keys of a configuration file, with their values and places. What they mean is settled by setting_files.
#include <cstdint>
#include <expected>
#include <string>
#include <vector>

namespace raddle::tool {

/// From 1.
struct SettingPlace {
  std::uint32_t line = 1, column = 1;
};

enum class ValueForm : std::uint8_t { flag, number, text, texts, table, other };

struct SettingKey {
  std::vector<std::string> path;  ///< `profile`, `slurm`, `sweep`, `jobs`
  SettingPlace at, value_at;
  ValueForm form;
  std::vector<std::string> values;  ///< as they would be typed on the command line
};

struct SettingFault {
  SettingPlace at;
  std::string message, help = "";
};

/// The keys and tables of a text in TOML, as they stand in it.
std::expected<std::vector<SettingKey>, SettingFault> read_setting_keys(const std::string& text);

}  // namespace raddle::tool
