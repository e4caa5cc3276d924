#include "compiler/tool/command/words.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "compiler/tool/command/recorded_run.hpp"
#include "compiler/tool/command/usage_error.hpp"
#include "compiler/tool/command/verb.hpp"
#include "compiler/preprocess/preprocess.hpp"
#include "compiler/tool/formats/quantities.hpp"
#include "compiler/tool/formats/scan.hpp"
#include "vm/value/standard_error.hpp"

namespace raddle::tool {

std::string verb_with(const std::string& option) {
  const std::string name = option.substr(0, option.find('='));
  for (const Verb* verb : verbs()) {
    CLI::App app;
    verb->describe(app);
    if (app.get_option_no_throw(name) != nullptr) return verb->name;
  }
  return "";
}

std::string nearest_option(const CLI::App& app, const std::string& option) {
  std::vector<std::string> names;
  for (const CLI::Option* known : app.get_options())
    for (const std::string& name : known->get_lnames()) names.push_back("--" + name);
  const std::string given = option.substr(0, option.find('='));
  if (given == "--jobs" && std::ranges::find(names, "--workers") != names.end()) return "--workers";
  return nearest_name(given, names);
}

int unknown_option(const CLI::App& app, const std::string& option, const std::string& verb, const std::string& other) {
  const std::string nearest = nearest_option(app, option);
  const std::string owner = nearest.empty() ? verb_with(option) : "";
  const std::string hint = !nearest.empty() ? fmt::format("; did you mean `{}`?", nearest)
                           : !owner.empty() ? fmt::format("; `raddle {}` has one of that name", owner)
                                            : other;
  return usage_error(fmt::format("unknown option `{}`{}", option, hint), verb);
}

void add_loudness_options(CLI::App& app, Options& options, const char* verbose, const std::string& group) {
  CLI::Option* const quiet =
      app.add_flag("-q,--quiet", options.is_quiet, "Nothing but errors on standard error: no warnings")->group(group);
  app.add_flag("-v,--verbose", options.is_verbose, verbose)->group(group)->excludes(quiet);
}

double read_time(const std::string& option, const std::string& text) {
  std::optional<double> seconds = sweep::read_duration(text);
  if (!seconds) seconds = sweep::read_number(text);
  if (!seconds || !(*seconds > 0))
    throw CLI::ValidationError(option, fmt::format("`{}` is no time; 90, 90s, 5m or 2h are", text));
  return *seconds;
}

std::size_t read_bytes(const std::string& option, const std::string& text) {
  const std::optional<double> bytes = sweep::read_size(text);
  if (!bytes || !(*bytes >= 1) || *bytes > 0x1p62)
    throw CLI::ValidationError(option, fmt::format("`{}` is no size; 500M, 2G or 1.5T are", text));
  return static_cast<std::size_t>(*bytes);
}

std::function<std::string(const std::string&)> is_whole_from(std::uint64_t least) {
  return [least](const std::string& text) {
    const std::optional<std::uint64_t> number = sweep::read_count(text);
    return number && *number >= least ? "" : fmt::format("`{}` is no whole number from {} to 2^64-1", text, least);
  };
}

std::string is_expression(const std::string& text) {
  return text.find_first_not_of(" \t\n") == std::string::npos ? "the expression is empty" : "";
}

void add_reading_options(CLI::App& app, Options& options) {
  app.add_option("-I,--include", options.include_folders, "Folder in which imports are looked for (may be repeated)")
      ->type_name("FOLDER")
      ->allow_extra_args(false);
  app.add_option_function<std::string>(
         "-D",
         [&options](const std::string& macro) {
           if (const std::string fault = fault_of_macro_option(macro); !fault.empty())
             throw CLI::ValidationError("-D", fault);
           options.macros.push_back(macro);
         },
         "Define a macro of the preprocessor, with the text 1 unless one is given (may be repeated)")
      ->type_name("NAME[=TEXT]")
      ->allow_extra_args(false)
      ->trigger_on_parse();
  app.add_flag_callback(
      "-p", [&options] { options.preprocess = false; }, "No preprocessor: every line that begins with # is a comment");
}

void add_compile_options(CLI::App& app, Options& options) {
  app.add_option_function<std::string>(
         "-W",
         [&options](const std::string& what) {
           if (what != "error") throw CLI::ValidationError("-W", "only `-W error` is known");
           options.warnings_are_errors = true;
         },
         "`-W error`: warnings are errors")
      ->type_name("error");
  app.add_option("-O", options.optimisation, "Optimisation: 0, 1, 2 (default 2)")
      ->check(CLI::Range(0, 2))
      ->type_name("N");
}

namespace {

/// A word that fits nowhere. @return exit_usage
int unexpected_word(const CLI::App& app, const std::string& verb) {
  const std::vector<CLI::App*> given = app.get_subcommands();
  const CLI::App& used = given.empty() ? app : *given.front();
  const std::string used_verb = given.empty() ? verb : fmt::format("{} {}", verb, used.get_name());
  const std::string word = app.remaining(/*recurse=*/true).front();
  if (word.starts_with('-')) return unknown_option(used, word, used_verb);
  std::vector<std::string> names;
  for (const CLI::App* known : used.get_subcommands({})) names.push_back(known->get_name());
  const std::string nearest = nearest_name(word, names);
  const bool names_run = used_verb == "runs" && (word == newest_run || std::isdigit(word.front()) != 0);
  return usage_error(fmt::format("`raddle {}` does not take the word `{}`{}", used_verb, word,
                                 names_run         ? fmt::format("; a run is shown by `raddle runs show {}`", word)
                                 : nearest.empty() ? ""
                                                   : fmt::format("; did you mean `raddle {} {}`?", verb, nearest)),
                     used_verb);
}

}  // namespace

std::optional<int> parse_verb(CLI::App& app, const std::vector<std::string>& words, const std::string& verb) {
  std::vector<std::string> reversed(words.rbegin(), words.rend());  // as CLI11 wants them
  try {
    app.parse(reversed);
  } catch (const CLI::ExtrasError&) {
    return unexpected_word(app, verb);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return write_output(app.help()) ? exit_ok : exit_failed;
    return usage_error(error.what(), verb);
  }
  return std::nullopt;
}

std::string ScriptUsage::make_usage(const CLI::App*, std::string) const {
  return fmt::format("Usage: raddle {}\n", usage_);
}

}  // namespace raddle::tool
