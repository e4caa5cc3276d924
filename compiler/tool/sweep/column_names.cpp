#include "compiler/tool/sweep/column_names.hpp"

#include <algorithm>
#include <set>

namespace raddle::tool {

std::optional<sweep::OptionError> fault_of_column_names(const SweepRequest& request, const SweepPlan& plan) {
  const std::vector<std::string> assigned = plan.script ? plan.script->result_names() : std::vector<std::string>();
  std::set<std::string> names(assigned.begin(), assigned.end());
  for (std::size_t i = 0; i < plan.collectors.size(); ++i) {
    for (const std::string& name : plan.collectors[i].names()) {
      if (names.insert(name).second) continue;
      const std::string& word = request.collect[i];
      const bool is_assigned = std::ranges::find(assigned, name) != assigned.end();
      return sweep::OptionError{
          "--collect",
          word,
          {sweep::fault_of_name(name) + (is_assigned ? ": the script assigns one that is named so" : ""),
           word.find(':') + 1, word.size(),
           "a column has the word before `=` or `:` before its parentheses: another word, as in "
           "'regex:test_loss=(.*)', or a longer one that the program prints, makes another column"}};
    }
  }
  return std::nullopt;
}

}  // namespace raddle::tool
