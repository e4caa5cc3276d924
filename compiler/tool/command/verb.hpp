#pragma once
// Verbs of the tool: one list, from which they are called, and which help, completions and the manual show.
#include <CLI/CLI.hpp>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace raddle::tool {

struct Verb {
  const char* name;
  const char* about;                  ///< a line: what it does, and after a colon how it is typed
  bool takes_options_before = false;  ///< `raddle OPTIONS VERB` is `raddle VERB OPTIONS`
  /// @param words  behind the verb   @return exit code
  int (*run)(const std::vector<std::string>& words);
  /// Adds all that its own command line has, for those who list it: `app` is not parsed.
  void (*describe)(CLI::App& app);
};

extern const Verb run_verb, swift_t_verb, check_verb, repl_verb, fmt_verb, explain_verb, doc_verb, sweep_verb,
    runs_verb, rerun_verb, why_verb, cache_verb, plot_verb, report_verb, trace_verb, graph_verb, completions_verb,
    man_verb, doctor_verb, version_verb, help_verb;

// Defined in `main`, where all of them are known.

/// In the order in which help lists them.
std::span<const Verb* const> verbs();
/// Adds what the command line has without a verb, and the verbs' names.
void describe_tool(CLI::App& app);

/// @return nullptr if there is no such one
const Verb* find_verb(std::string_view name);

/// A verb's options by the function that adds them; what they would be read into lives as long as `app`.
template <typename Words>
void describe_with(CLI::App& app, void (*add_options)(CLI::App&, Words&)) {
  const auto words = std::make_shared<Words>();
  add_options(app, *words);
  app.parse_complete_callback([words] {});
}

}  // namespace raddle::tool
