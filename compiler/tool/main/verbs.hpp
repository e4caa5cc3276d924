#pragma once
// Verbs that read their words themselves: one list, from which they are called, and which help, completions and the
// manual show.
#include <CLI/CLI.hpp>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace raddle::tool {

struct Verb {
  const char* name;
  const char* about;  ///< a line: what it does, and after a colon how it is typed
  /// @param words  behind the verb   @return exit code
  int (*run)(const std::vector<std::string>& words);
  /// Adds all that its own command line has, for those who list it: `app` is not parsed.
  void (*describe)(CLI::App& app);
};

std::span<const Verb* const> other_verbs();
/// @return nullptr if there is no such one
const Verb* find_verb(std::string_view name);

extern const Verb sweep_verb, runs_verb, rerun_verb, why_verb, cache_verb, plot_verb, report_verb, trace_verb,
    graph_verb, completions_verb, man_verb, doctor_verb;

/// A verb's options by the function that adds them; what they would be read into lives as long as `app`.
template <typename Words>
void describe_with(CLI::App& app, void (*add_options)(CLI::App&, Words&)) {
  const auto words = std::make_shared<Words>();
  add_options(app, *words);
  app.parse_complete_callback([words] {});
}

}  // namespace raddle::tool
