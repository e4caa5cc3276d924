#include "compiler/tool/main/verbs.hpp"

#include <array>

namespace raddle::tool {

std::span<const Verb* const> other_verbs() {
  static constexpr std::array all = {&sweep_verb, &runs_verb,        &rerun_verb,  &why_verb,
                                     &cache_verb, &plot_verb,        &report_verb, &trace_verb,
                                     &graph_verb, &completions_verb, &man_verb,    &doctor_verb};
  return all;
}

const Verb* find_verb(std::string_view name) {
  for (const Verb* verb : other_verbs())
    if (verb->name == name) return verb;
  return nullptr;
}

}  // namespace raddle::tool
