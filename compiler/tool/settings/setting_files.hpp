#pragma once
// The options that are settings, and the files that may set them.
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/tool/settings/setting_keys.hpp"

namespace raddle::tool {

enum class SettingKind : std::uint8_t { flag, number, text, number_or_text, folders };

/// An option of these verbs that holds for many runs, by its long name.
struct Setting {
  std::string_view name;
  SettingKind kind;
  std::string_view verbs;        ///< "run sweep"
  bool differs_by_verb = false;  ///< it means something else to each: not at the top of a file

  bool is_of(std::string_view verb) const;
};

/// All of them.
std::span<const Setting> settings();

/// One that is there, and says nothing that it must not.
struct SettingFile {
  std::string path, text;
  std::vector<SettingKey> keys;

  /// @return nothing if there is no such file; or what is wrong with it, as text for the user
  static std::expected<std::optional<SettingFile>, std::string> read(const std::string& path);
  std::string folder() const;
  std::vector<std::string> profiles() const;
  const SettingKey* find(const std::vector<std::string>& key_path) const;
  /// `raddle.toml:3:8: error: ..`, the line, a caret, help.
  std::string text_of(const SettingFault& fault) const;
};

inline constexpr const char* project_name = "raddle.toml";

/// Those that are looked for: the project's, the user's, the system's.
std::vector<std::string> setting_paths();

}  // namespace raddle::tool
