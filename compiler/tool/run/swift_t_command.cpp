// `raddle swift-t`: the command line of Swift/T, for run scripts as published workflows have them.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <expected>
#include <filesystem>
#include <optional>

#include "compiler/tool/command/script.hpp"
#include "compiler/tool/command/usage_error.hpp"
#include "compiler/tool/command/verb.hpp"
#include "compiler/tool/command/version.hpp"
#include "compiler/tool/command/words.hpp"
#include "compiler/tool/formats/scan.hpp"
#include "compiler/tool/run/run_script.hpp"
#include "vm/value/file_descriptor.hpp"
#include "vm/value/standard_error.hpp"

namespace raddle::tool {

namespace {

constexpr unsigned default_processes = 2;

struct SwiftWords {
  Options options;
  std::string code;                     ///< -E
  std::vector<std::string> variables;   ///< -e: NAME=VALUE, or a name, whose value is there already
  std::vector<std::string> arguments;   ///< -A: of the script, as if they stood behind it
  std::string settings;                 ///< -s: a script of the shell
  std::vector<std::string> of_turbine;  ///< -t
  std::vector<std::string> toggled;     ///< -f, -F: optimisations
  unsigned processes = 0;               ///< -n; 0: not given
  int optimisation = 2;
  /// Options that are accepted and change nothing, as they were typed, and why.
  std::vector<std::string> ignored;
};

void ignore_option(CLI::App& app, SwiftWords& words, const char* names, const char* why) {
  app.add_option_function<std::vector<std::string>>(
         names,
         [&words, names, why](const std::vector<std::string>& values) {
           for (const std::string& value : values) words.ignored.push_back(fmt::format("{} {}: {}", names, value, why));
         },
         fmt::format("Accepted: {}", why))
      ->allow_extra_args(false)
      ->type_name("X")
      ->group("Accepted, without an effect on one machine");
}

void ignore_flag(CLI::App& app, SwiftWords& words, const char* names, const char* why) {
  app.add_flag_callback(
         names, [&words, names, why] { words.ignored.push_back(fmt::format("{}: {}", names, why)); },
         fmt::format("Accepted: {}", why))
      ->group("Accepted, without an effect on one machine");
}

constexpr const char* swift_t_usage = "swift-t [OPTIONS] FILE [ARGUMENTS of the script]";
constexpr const char* about_swift_t =
    "Run a script with the options that Swift/T's own command has: swift-t [OPTIONS] FILE [ARGUMENTS of the script]";

void add_swift_words(CLI::App& app, SwiftWords& words) {
  app.description(about_swift_t);
  app.formatter(std::make_shared<ScriptUsage>(swift_t_usage));
  app.prefix_command();
  const auto repeated = [&app](const char* name, std::vector<std::string>& into, const char* help, const char* type) {
    app.add_option(name, into, help)->allow_extra_args(false)->type_name(type);
  };
  app.add_option("-n", words.processes,
                 "Processes: the workers, and a server (ADLB_SERVERS: more), which does not exist here; so -n 4 is 3 "
                 "workers (default: PROCS, else 2)")
      ->check(CLI::Range(1, 4096))
      ->type_name("N");
  app.add_flag_callback(
      "-p", [&words] { words.options.preprocess = false; }, "Do not preprocess the script");
  repeated("-I", words.options.include_folders, "Folder to look for imports in (may be repeated)", "FOLDER");
  repeated("-r", words.options.package_folders, "Folder with packages of functions in Tcl (may be repeated)", "FOLDER");
  repeated("-i", words.options.imports, "Import this module, too (may be repeated)", "MODULE");
  repeated("-D", words.options.macros, "Define a macro of the preprocessor", "NAME[=VALUE]");
  repeated("-e", words.variables, "Set a variable of the environment (may be repeated)", "NAME[=VALUE]");
  repeated("-A", words.arguments, "An argument of the script, as --KEY=VALUE behind it", "KEY=VALUE");
  app.add_option("-s", words.settings, "Variables of the environment that this script of the shell sets, as PROCS")
      ->type_name("FILE");
  app.add_option("-E", words.code, "Run this text instead of a file")->type_name("CODE");
  app.add_option("-O", words.optimisation, "Optimisation (default 2; 3 is 2)")
      ->check(CLI::Range(0, 3))
      ->type_name("LEVEL");
  repeated("-t", words.of_turbine, "An option of turbine: e:NAME=VALUE and n:N count, others are accepted", "FLAG[:X]");
  repeated("-f,-F", words.toggled, "disable-asserts: assertions always hold; others are accepted", "NAME");
  app.add_flag("-v,-V,--verbose", words.options.is_verbose,
               "Tell the version, which of the options have no effect here, and each external program");
  ignore_option(app, words, "-m", "there is no other scheduler than raddle's own");
  ignore_option(app, words, "-o", "nothing is kept of a compilation");
  ignore_option(app, words, "-d", "dependencies of Swift/T's compiler");
  ignore_option(app, words, "-j", "there is no Java");
  ignore_option(app, words, "-C", "the intermediate code of Swift/T's compiler; `raddle run --emit=ir` shows ours");
  ignore_option(app, words, "-L", "a log of Swift/T's compiler");
  ignore_option(app, words, "-U", "a script is compiled in each run");
  ignore_option(app, words, "-a", "an option of MPI's launcher");
  ignore_option(app, words, "-M", "an option of a scheduler");
  ignore_flag(app, words, "-l", "what is printed has no rank");
  ignore_flag(app, words, "-u", "a script is compiled in each run");
  ignore_flag(app, words, "-x", "there is no executable to be made");
  ignore_flag(app, words, "-X", "there is no executable to be made");
  app.add_flag("-q,--quiet", words.options.is_quiet, "Nothing but errors on standard error");
}

/// @return the number that a text is, if it is from 1 to 4096; else 0
unsigned count_in(const char* text) {
  const std::optional<std::uint64_t> count = sweep::read_count(text);
  return count && *count <= 4096 ? static_cast<unsigned>(*count) : 0;
}

/// Of a variable of the environment. @param count  stays as it is if the variable is not set, or empty
/// @return the text of an error, or ""
std::string read_count_of(const char* variable, const char* what, unsigned& count) {
  const char* const given = std::getenv(variable);
  if (given == nullptr || *given == '\0') return {};
  count = count_in(given);
  return count == 0 ? fmt::format("{} is `{}`: no number of {}", variable, given, what) : std::string();
}

/// @return the text of an error, or ""
std::string apply_to_turbine(SwiftWords& words) {
  for (const std::string& flag : words.of_turbine) {
    if (flag.starts_with("e:")) {
      words.variables.push_back(flag.substr(2));
    } else if (flag.starts_with("n:")) {
      words.processes = count_in(flag.c_str() + 2);
      if (words.processes == 0) return fmt::format("-t {}: no number of processes", flag);
    } else {
      words.ignored.push_back(fmt::format("-t {}: an option of turbine or its scheduler", flag));
    }
  }
  return {};
}

/// @return the text of an error, or ""
std::string set_workers(SwiftWords& words) {
  unsigned processes = words.processes == 0 ? default_processes : words.processes;
  unsigned servers = 1;
  if (words.processes == 0)
    if (std::string problem = read_count_of("PROCS", "processes", processes); !problem.empty()) return problem;
  if (std::string problem = read_count_of("ADLB_SERVERS", "servers", servers); !problem.empty()) return problem;
  if (processes <= servers)
    return fmt::format("{} process{} with {} server{}: none is left to work; -n {} has one worker", processes,
                       processes == 1 ? "" : "es", servers, servers == 1 ? "" : "s", servers + 1);
  words.options.workers = processes - servers;
  return {};
}

/// What the script tells goes to standard error. @return the text of an error, or ""
std::string read_settings(const std::string& file) {
  if (file.empty()) return {};
  setenv("RADDLE_SETTINGS", std::filesystem::absolute(file).c_str(), 1);
  FILE* const shell = popen("set -a; . \"$RADDLE_SETTINGS\" >&2 </dev/null && unset RADDLE_SETTINGS && env -0", "re");
  unsetenv("RADDLE_SETTINGS");
  if (shell == nullptr) return fmt::format("-s {}: {}", file, vm::error_text(errno));
  std::string entries;
  char part[4096];
  while (const std::size_t count = std::fread(part, 1, sizeof part, shell)) entries.append(part, count);
  if (pclose(shell) != 0) return fmt::format("-s {}: the shell could not read it, or it has failed", file);
  for (std::size_t begin = 0, end = 0; (end = entries.find('\0', begin)) != std::string::npos; begin = end + 1) {
    const std::string entry = entries.substr(begin, end - begin);
    const std::size_t equals = entry.find('=');
    const std::string name = entry.substr(0, equals);
    if (equals != std::string::npos && name != "_") setenv(name.c_str(), entry.c_str() + equals + 1, 1);
  }
  return {};
}

/// @return the text of an error, or ""
std::string set_variables(const std::vector<std::string>& variables) {
  for (const std::string& variable : variables) {
    const std::size_t equals = variable.find('=');
    if (equals == 0 || variable.empty())
      return fmt::format("-e {}: it is to be NAME=VALUE, or the name of a variable", variable);
    if (equals != std::string::npos)
      setenv(variable.substr(0, equals).c_str(), variable.c_str() + equals + 1, 1);
    else if (std::getenv(variable.c_str()) == nullptr)
      warn(fmt::format("-e {}: there is no such variable", variable));
  }
  return {};
}

/// @return the text of an error, or ""
std::string fault_of_arguments(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments)
    if (const std::size_t equals = argument.find('='); equals == 0 || equals == std::string::npos)
      return fmt::format("-A {}: it is to be KEY=VALUE", argument);
  return {};
}

int swift_t_command(const std::vector<std::string>& typed) {
  CLI::App app("", "raddle swift-t");
  SwiftWords words;
  add_swift_words(app, words);
  if (const std::optional<int> code = parse_verb(app, typed, "swift-t")) return *code;
  std::vector<std::string> rest = app.remaining();
  if (words.code.empty() && !rest.empty() && rest.front().size() > 1 && rest.front().starts_with('-'))
    return unknown_option(app, rest.front(), "swift-t");
  if (const std::string problem = read_settings(words.settings); !problem.empty())
    return usage_error(problem, "swift-t");
  if (const std::string problem = apply_to_turbine(words); !problem.empty()) return usage_error(problem, "swift-t");
  if (const std::string problem = set_variables(words.variables); !problem.empty())
    return usage_error(problem, "swift-t");
  if (const std::string problem = fault_of_arguments(words.arguments); !problem.empty())
    return usage_error(problem, "swift-t");
  if (const std::string problem = set_workers(words); !problem.empty()) return usage_error(problem, "swift-t");
  for (const std::string& name : words.toggled) {
    if (name == "disable-asserts")
      words.options.disable_asserts = true;
    else
      words.ignored.push_back(fmt::format("-f {}: an optimisation of Swift/T's compiler", name));
  }
  words.options.optimisation = std::min(words.optimisation, 2);
  Session session;
  session.options = words.options;
  session.words = typed;
  session.colour = wants_colour(STDERR_FILENO);
  const bool has_script = !words.code.empty() || !rest.empty();
  if (words.options.is_verbose && !has_script)
    return write_output(fmt::format("{}\n", version)) ? exit_ok : exit_failed;
  if (words.options.is_verbose) {
    vm::print_stderr("{}\n", version);
    vm::print_stderr("raddle: {} worker{}\n", words.options.workers, words.options.workers == 1 ? "" : "s");
    for (const std::string& each : words.ignored) vm::print_stderr("raddle: {}\n", each);
  }
  warn_of_missing_folders(session.options);
  if (!has_script) return usage_error("no script given", "swift-t");
  const std::string file = words.code.empty() ? rest.front() : "";
  if (words.code.empty()) rest.erase(rest.begin());
  std::expected<Script, int> script = typed_script(words.code);
  if (words.code.empty()) script = read_script(file, "swift-t", "");
  if (!script) return script.error();
  std::vector<std::string> arguments;
  for (const std::string& argument : words.arguments) arguments.push_back("--" + argument);
  arguments.insert(arguments.end(), rest.begin(), rest.end());
  return run_script(session, std::move(*script), std::move(arguments));
}

}  // namespace

const Verb swift_t_verb = {
    .name = "swift-t", .about = about_swift_t, .run = swift_t_command, .describe = [](CLI::App& app) {
      describe_with(app, add_swift_words);
    }};

}  // namespace raddle::tool
