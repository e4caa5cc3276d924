#include "compiler/tool/main/command_line.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "compiler/tool/command/session.hpp"
#include "compiler/tool/command/usage_error.hpp"
#include "compiler/tool/command/verb.hpp"
#include "compiler/tool/command/words.hpp"
#include "compiler/tool/run/run_command.hpp"

namespace raddle::tool {

namespace {

constexpr const char* description =
    R"(raddle: an implicitly parallel dataflow language (Swift/T's), compiled and run on all cores.

examples:
  raddle run model.df                     run a script
  raddle run model.df --T=350             set the script's parameter T
  raddle -e 'import io; printf("%i", 6*7);'   run a line
)";

/// What stands before a script, or a verb.
struct ToolWords {
  RunWords run;
  bool show_version = false;
};

void add_tool_options(CLI::App& app, ToolWords& words) {
  app.description(description);
  app.name("raddle");
  app.add_flag("--version", words.show_version, "Print the version");
  add_run_options(app, words.run);
}

std::string overview() {
  CLI::App app;
  describe_tool(app);
  return app.help();
}

/// `raddle OPTIONS VERB WORDS`. @param before  the options
int run_behind_options(const Verb& verb, const std::vector<std::string>& before,
                       const std::vector<std::string>& behind) {
  if (!verb.takes_options_before)
    return usage_error(
        fmt::format("options of `raddle {0}` stand behind `{0}`; found `{1}`", verb.name, before.front()), verb.name);
  std::vector<std::string> words = before;
  words.insert(words.end(), behind.begin(), behind.end());
  return verb.run(words);
}

/// No script is named.
int run_without_script(CLI::App& app, const ToolWords& read, std::vector<std::string> words) {
  if (isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0) return repl_verb.run(words);
  if (isatty(STDIN_FILENO) != 0 && words.empty()) {
    fmt::print("{}", overview());
    return exit_usage;
  }
  if (isatty(STDIN_FILENO) != 0) return usage_error("no script given");
  words.emplace_back("-");
  return run_named_script(app, read.run, words, {"-"}, "");
}

int run_without_verb(const std::vector<std::string>& words) {
  CLI::App app;
  ToolWords read;
  add_tool_options(app, read);
  // a script's arguments are its own, `--help` and `--version` among them: the tool reads up to the script's name only
  bool shows_help = false;
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) return usage_error(error.what());
    shows_help = true;
  }
  const std::vector<std::string> rest = app.remaining();
  const Verb* const verb = rest.empty() ? nullptr : find_verb(rest.front());
  if (verb != nullptr)
    return run_behind_options(*verb, {words.begin(), words.end() - static_cast<std::ptrdiff_t>(rest.size())},
                              {rest.begin() + 1, rest.end()});
  if (shows_help) return write_output(overview()) ? exit_ok : exit_failed;
  if (read.show_version) return version_verb.run({});
  const bool has_script = !rest.empty() || !read.run.code.empty() || !read.run.options.emit.empty();
  return has_script ? run_named_script(app, read.run, words, rest, "") : run_without_script(app, read, words);
}

}  // namespace

void describe_tool(CLI::App& app) {
  describe_with(app, add_tool_options);
  app.require_subcommand(0, 1);
  for (const Verb* verb : verbs()) app.add_subcommand(verb->name, verb->about);
  app.footer(
      "`raddle FILE` is `raddle run FILE`. Options stand before FILE; what stands after it is the script's.\n"
      "`raddle run FILE --help` lists the script's parameters.\n"
      "Settings may also stand in raddle.toml, ~/.config/raddle/config.toml and RADDLE_<OPTION>: `raddle man`, "
      "SETTINGS.");
}

int run_command_line(const std::vector<std::string>& words) {
  const Verb* const verb = words.empty() ? nullptr : find_verb(words.front());
  return verb != nullptr ? verb->run({words.begin() + 1, words.end()}) : run_without_verb(words);
}

}  // namespace raddle::tool
