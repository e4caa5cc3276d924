#include "compiler/tool/runs/value_difference.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/tool/space/values.hpp"

namespace raddle::tool {

std::vector<ValueDifference> differences_of(const NamedValues& now, const NamedValues& before) {
  std::vector<ValueDifference> found;
  const auto value_in = [](const NamedValues& values, const std::string& name) {
    const auto at = std::ranges::find(values, name, &NamedValues::value_type::first);
    return at == values.end() ? std::nullopt : std::optional(at->second);
  };
  for (const auto& [name, value] : now) {
    const std::optional<std::string> other = value_in(before, name);
    if (!other || sweep::canonical_text(*other) != sweep::canonical_text(value)) found.push_back({name, value, other});
  }
  for (const auto& [name, value] : before)
    if (!value_in(now, name)) found.push_back({name, std::nullopt, value});
  return found;
}

std::vector<ValueDifference> differently_written(const NamedValues& now, const NamedValues& before) {
  std::vector<ValueDifference> found;
  for (const auto& [name, value] : now) {
    const auto other = std::ranges::find(before, name, &NamedValues::value_type::first);
    if (other != before.end() && other->second != value) found.push_back({name, value, other->second});
  }
  return found;
}

std::string shown(const std::optional<std::string>& value, const char* not_there) {
  if (!value) return not_there;
  return value->empty() ? "\"\"" : *value;
}

std::string text_of(const std::vector<ValueDifference>& differences) {
  std::string text;
  for (const ValueDifference& each : differences)
    text += fmt::format("{}`{}` was {}, and is {}", text.empty() ? "" : "; ", each.name,
                        shown(each.before, "not there"), shown(each.now, "not there"));
  return text;
}

std::vector<ValueDifference> changed_files(const NamedValues& now, const NamedValues& before) {
  std::vector<ValueDifference> changed = differences_of(now, before);
  std::erase_if(changed, [](const ValueDifference& each) { return each.before.value_or("").empty(); });
  return changed;
}

std::string not_as_before(const std::vector<ValueDifference>& files) {
  std::string names;
  for (const ValueDifference& each : files) names += fmt::format("{}`{}`", names.empty() ? "" : ", ", each.name);
  return names + (files.size() == 1 ? " is not what it was then" : " are not what they were then");
}

}  // namespace raddle::tool
