#include "stdlib/builtin_names.hpp"

#include <charconv>

#include "stdlib/builtins.hpp"

namespace raddle::stdlib {

std::string builtin_text(std::uint32_t index) {
  const auto table = builtins();
  const std::string_view name = table[index].name;
  unsigned before = 0;
  for (std::uint32_t i = 0; i < index; ++i)
    if (table[i].name == name) ++before;
  return before == 0 ? std::string(name) : std::string(name) + "." + std::to_string(before);
}

std::optional<std::uint32_t> find_builtin(std::string_view text) {
  const std::string_view name = text.substr(0, text.find('.'));
  unsigned skip = 0;
  if (name.size() < text.size()) std::from_chars(text.data() + name.size() + 1, text.data() + text.size(), skip);
  const auto table = builtins();
  for (std::uint32_t i = 0; i < table.size(); ++i)
    if (table[i].name == name && skip-- == 0) return i;
  return std::nullopt;
}

}  // namespace raddle::stdlib
