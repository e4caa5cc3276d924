// `raddle help sweep` is `raddle sweep --help`.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/tool/command/session.hpp"
#include "compiler/tool/command/usage_error.hpp"
#include "compiler/tool/command/verb.hpp"
#include "compiler/tool/help/command_tree.hpp"

namespace raddle::tool {

namespace {

constexpr const char* about_help = "Print this, or what --help of a verb does: help [VERB]";

int print_overview() {
  CLI::App app;
  describe_tool(app);
  return write_output(app.help()) ? exit_ok : exit_failed;
}

/// @param words  a verb, and perhaps one of its own
int help_command(const std::vector<std::string>& words) {
  if (words.empty() || words.front() == "--help" || words.front() == "-h") return print_overview();
  const CommandInfo tree = command_tree();
  const CommandInfo* command = &tree;
  for (const std::string& word : words) {
    const auto found = std::ranges::find(command->commands, word, &CommandInfo::name);
    if (found == command->commands.end()) {
      std::vector<std::string> names;
      for (const CommandInfo& known : command->commands) names.push_back(known.name);
      const std::string nearest = nearest_name(word, names);
      return usage_error(fmt::format("no verb is named `{}`{}", word,
                                     nearest.empty() ? "" : fmt::format("; did you mean `{}`?", nearest)));
    }
    command = &*found;
  }
  std::vector<std::string> behind(words.begin() + 1, words.end());
  behind.emplace_back("--help");
  return find_verb(words.front())->run(behind);
}

}  // namespace

const Verb help_verb = {.name = "help", .about = about_help, .run = help_command, .describe = [](CLI::App& app) {
                          app.description(about_help);
                        }};

}  // namespace raddle::tool
