// The one list of verbs.
#include <array>

#include "compiler/tool/command/verb.hpp"

namespace raddle::tool {

std::span<const Verb* const> verbs() {
  static constexpr std::array all = {
      &run_verb,   &swift_t_verb, &check_verb,       &repl_verb, &fmt_verb,    &explain_verb, &doc_verb,
      &sweep_verb, &runs_verb,    &rerun_verb,       &why_verb,  &cache_verb,  &plot_verb,    &report_verb,
      &trace_verb, &graph_verb,   &completions_verb, &man_verb,  &doctor_verb, &version_verb, &help_verb};
  return all;
}

const Verb* find_verb(std::string_view name) {
  for (const Verb* verb : verbs())
    if (verb->name == name) return verb;
  return nullptr;
}

}  // namespace raddle::tool
