#include "compiler/tool/executable/script_place.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace raddle::tool {

vm::CallPlace place_in_script(const SourceMap& sources, vm::Place place, std::span<const vm::Place> calls) {
  const auto is_of_library = [&](const vm::Place& of) { return sources.at(of.file).is_of_library(); };
  const auto script = std::ranges::find_if_not(calls, is_of_library);
  if (is_of_library(place) && script != calls.end()) {
    place = *script;
    calls = calls.subspan(static_cast<std::size_t>(script - calls.begin()) + 1);
  }
  return {place, {calls.begin(), calls.end()}};
}

std::string text_of_obstacle(const SourceMap& sources, const vm::Obstacle& why, const vm::CallPlace& around) {
  if (why.name.empty()) return why.text;
  if (!why.name.starts_with('@') && !sources.at(why.path.front().file).is_of_library())
    return fmt::format("`{}` {}", why.name.substr(0, why.name.find('.')), why.text);
  std::vector<vm::Place> calls(why.path.begin() + 1, why.path.end());
  calls.push_back(around.place);
  calls.insert(calls.end(), around.calls.begin(), around.calls.end());
  const vm::CallPlace at = place_in_script(sources, why.path.front(), calls);
  return fmt::format("what is done at {} {}", sources.describe(span_of(at.place)), why.text);
}

}  // namespace raddle::tool
