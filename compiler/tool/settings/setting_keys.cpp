// The only place that includes the TOML library, which takes its time to compile.
#include "compiler/tool/settings/setting_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace raddle::tool {

namespace {

SettingPlace place_of(const toml::source_region& region) {
  return {static_cast<std::uint32_t>(region.begin.line), static_cast<std::uint32_t>(region.begin.column)};
}

void read_value(const toml::node& node, SettingKey& key) {
  key.form = ValueForm::other;
  if (const auto* flag = node.as_boolean()) {
    key.form = ValueForm::flag;
    key.values = {flag->get() ? "true" : "false"};
  } else if (const auto* number = node.as_integer()) {
    key.form = ValueForm::number;
    key.values = {std::to_string(number->get())};
  } else if (const auto* text = node.as_string()) {
    key.form = ValueForm::text;
    key.values = {text->get()};
  } else if (const auto* list = node.as_array();
             list != nullptr && (list->empty() || list->is_homogeneous<std::string>())) {
    key.form = ValueForm::texts;
    for (const toml::node& item : *list) key.values.push_back(item.as_string()->get());
  }
}

void add_keys(const toml::table& table, const std::vector<std::string>& path, std::vector<SettingKey>& keys) {
  for (const auto& [name, node] : table) {
    SettingKey key{
        .path = path, .at = place_of(name.source()), .value_at = place_of(node.source()), .form = {}, .values = {}};
    key.path.emplace_back(name.str());
    const toml::table* inner = node.as_table();
    if (inner != nullptr)
      key.form = ValueForm::table;
    else
      read_value(node, key);
    const std::vector<std::string> inner_path = key.path;
    keys.push_back(std::move(key));
    if (inner != nullptr) add_keys(*inner, inner_path, keys);
  }
}

/// Without "Error while parsing key-value pair: ", which says less than the place.
std::string message_of(const toml::parse_error& error) {
  constexpr std::string_view lead = "Error while parsing ", end = ": ";
  const std::string_view text = error.description();
  const std::size_t at = text.find(end);
  return std::string(text.starts_with(lead) && at != std::string_view::npos ? text.substr(at + end.size()) : text);
}

}  // namespace

std::expected<std::vector<SettingKey>, SettingFault> read_setting_keys(const std::string& text) {
  std::vector<SettingKey> keys;
  try {
    add_keys(toml::parse(text), {}, keys);
  } catch (const toml::parse_error& error) {
    return std::unexpected(SettingFault{.at = place_of(error.source()), .message = message_of(error)});
  }
  std::ranges::stable_sort(keys, {}, [](const SettingKey& key) { return std::tuple(key.at.line, key.at.column); });
  return keys;
}

}  // namespace raddle::tool
