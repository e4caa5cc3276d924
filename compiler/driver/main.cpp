// The `raddle` tool: reads the command line and calls one command.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <new>
#include <set>
#include <string_view>

#include "compiler/driver/commands.hpp"
#include "compiler/driver/runs.hpp"
#include "compiler/driver/sweep_request.hpp"
#include "compiler/driver/usage.hpp"
#include "compiler/opt/pipeline.hpp"
#include "compiler/source/read_file.hpp"

namespace raddle::driver {
namespace {

constexpr const char* description =
    R"(raddle: an implicitly parallel dataflow language (Swift/T's), compiled and run on all cores.

examples:
  raddle run model.df                     run a script
  raddle run model.df --T=350             set the script's parameter T
  raddle -e 'import io; printf("%i", 6*7);'   run a line
)";

struct CommandLine {
  std::string code;
  bool show_version = false;
  std::vector<std::string> codes;  ///< of `explain`
  std::vector<std::string> names;  ///< of `doc`
  std::vector<std::string> files;  ///< of `fmt`
  FormatOptions format;
  std::vector<std::string> rest;   ///< the script and what follows
  std::vector<std::string> verbs;  ///< all that there are
  bool verb_given = false;
};

void add_common(CLI::App& app, Session& session) {
  Options& options = session.options;
  app.prefix_command();
  add_reading_options(app, options);
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

/// With what, and with how much of it, things are run.
void add_machine_options(CLI::App& app, Options& options) {
  app.add_option("-r", options.package_folders, "Folder with packages of functions in Tcl (may be repeated)")
      ->type_name("FOLDER")
      ->allow_extra_args(false);
  app.add_option("-j,--workers", options.workers, "Worker threads (default: all cores)")
      ->check(CLI::Range(1, 4096))
      ->type_name("N");
  app.add_option("--processes", options.process_limit, "External programs at once (default: the number of workers)")
      ->check(CLI::Range(1, 100000))
      ->type_name("N");
  app.add_option("--call-memory", options.call_memory_mib,
                 "Memory that open calls and what waits in them may take, in MiB (default: half of what there is)")
      ->check(CLI::Range(1, 1 << 30))
      ->type_name("N");
  app.add_option("--seed", options.seed, "Seed of random numbers (default 0)")
      ->check([](const std::string& text) {
        std::uint64_t seed = 0;
        const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), seed);
        const bool is_seed = fault == std::errc() && end == text.data() + text.size();
        return is_seed ? std::string() : fmt::format("`{}` is no whole number from 0 to 2^64-1", text);
      })
      ->envname("TURBINE_SRAND")
      ->type_name("N");
  app.add_flag("--disable-asserts", options.disable_asserts, "Assertions always hold");
  app.add_flag("--interpret", options.interpret_only, "Do not compile leaf functions to machine code");
  app.add_flag_callback(
      "--no-jit-cache", [&options] { options.jit_cache = false; },
      "Compile leaf functions anew: take none from $XDG_CACHE_HOME/raddle/jit, keep none there");
}

void add_run_options(CLI::App& app, Session& session, CommandLine& line) {
  Options& options = session.options;
  add_common(app, session);
  app.add_option("-e", line.code, "Run this text instead of a file")->type_name("CODE");
  add_machine_options(app, options);
  app.add_flag("-k,--keep-going", options.keep_going, "After a failure go on with all that does not depend on it");
  app.add_flag("--results", options.show_results, "Print the values marked @result at the end");
  app.add_flag("--stats", options.statistics, "Print counters to stderr at the end");
  app.add_option("--trace", options.trace, "Write when each task ran, for https://ui.perfetto.dev")->type_name("FILE");
  app.add_option("--emit", options.emit,
                 fmt::format("Print a stage instead of running: {}", fmt::join(stage_names(), ", ")))
      ->check(CLI::IsMember(stage_names()))
      ->type_name("STAGE");
  const auto passes = opt::pass_names();
  const std::set<std::string> pass_names(passes.begin(), passes.end());
  constexpr const char* debugging = "For debugging and tests";
  app.add_option("--print-after", options.print_after, "Print the IR to stderr after this optimisation pass")
      ->group(debugging)
      ->check(CLI::IsMember(pass_names))
      ->type_name("PASS");
  app.add_option("--disable-pass", options.disabled_passes, "Leave this optimisation pass out (may be repeated)")
      ->group(debugging)
      ->allow_extra_args(false)
      ->check(CLI::IsMember(pass_names))
      ->type_name("PASS");
  app.add_flag("--verify-each", options.verify_each, "Check the IR after every optimisation pass")->group(debugging);
  app.add_option(
         "--scheduler-seed", options.scheduler_seed,
         "Take the decisions that the language leaves open by chance: the order of tasks, what is queued or run "
         "at once, who is woken first (0: off)")
      ->group(debugging)
      ->type_name("N");
  app.add_option("--inlining", options.inlining,
                 "Calls whose inputs are set run on their caller's stack while all workers have work: adaptive "
                 "(default); or every one becomes a task: never")
      ->group(debugging)
      ->check(CLI::IsMember({"adaptive", "never"}))
      ->type_name("WHEN");
  app.add_option(
         "--scheduler", options.scheduler,
         "Where ready tasks lie: stealing (default), a deque for each worker that idle ones steal from; tree, a "
         "tree of queues that mirrors the machine; tree-fifo, the same, oldest first")
      ->group(debugging)
      ->check(CLI::IsMember({"stealing", "tree", "tree-fifo"}))
      ->type_name("WHICH");
  app.add_option("--leaf-threshold", options.leaf_threshold,
                 "Calls of a leaf function without loops before it is compiled (default 1000; 0: calls wait for it)")
      ->group(debugging)
      ->type_name("N");
}

/// The script that the command line names. @return an exit code if there is none
int find_script(const CommandLine& line, Script& script, std::vector<std::string>& arguments) {
  arguments = line.rest;
  if (!line.code.empty()) {
    script = {"<command line>", line.code};
    return exit_ok;
  }
  if (arguments.empty()) return usage_error("no script given");
  const std::string path = arguments.front();
  arguments.erase(arguments.begin());
  if (path == "-") {
    script = {"<stdin>", std::string(std::istreambuf_iterator<char>(std::cin), {})};
    return exit_ok;
  }
  if (path.starts_with("-")) return usage_error(fmt::format("unknown option `{}`", path));
  std::string text, error;
  if (!read_file(path, text, error)) {
    const std::string verb = line.verb_given ? "" : nearest_name(path, line.verbs);
    return usage_error(fmt::format("can not read `{}`: {}{}", path, error,
                                   verb.empty() ? "" : fmt::format("; did you mean `raddle {}`?", verb)));
  }
  script = {path, std::move(text)};
  return exit_ok;
}

/// `--workers`, `-j`, ...
std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

/// Each script by itself. @return the worst exit code
int check_scripts(Session& session, CommandLine line, Script first) {
  std::vector<std::string>& rest = line.rest;  // the others
  if (line.code.empty()) rest.erase(rest.begin());
  if (!line.code.empty() && !rest.empty())
    return usage_error(fmt::format("check -e takes no script; found `{}`", rest.front()));
  for (const std::string& path : rest)
    if (path.starts_with("-")) return usage_error(fmt::format("options of check stand before the scripts: `{}`", path));
  int code = check_script(session, std::move(first));
  while (!rest.empty()) {
    Session own;
    own.options = session.options;
    own.colour = session.colour;
    Script script;
    std::vector<std::string> others;
    if (const int problem = find_script(line, script, others); problem != exit_ok) return problem;
    code = std::max(code, check_script(own, std::move(script)));
    rest = std::move(others);
  }
  return code;
}

void warn_of_missing_folders(const Options& options) {
  for (const std::string& folder : options.include_folders) {
    std::error_code code;
    if (!std::filesystem::is_directory(folder, code))
      warn(fmt::format("there is no folder `{}`, given with -I", folder));
  }
}

/// Verbs that read their words themselves. @return nothing if it is another one
std::optional<int> run_other_verb(const std::vector<std::string>& words) {
  if (words.empty()) return std::nullopt;
  const std::vector<std::string> rest(words.begin() + 1, words.end());
  if (words[0] == "sweep") return sweep_command(rest);
  if (words[0] == "runs") return runs_command(rest);
  if (words[0] == "rerun") return rerun_command(rest);
  if (words[0] == "report") return report_command(rest);
  if (words[0] == "trace") return trace_command(rest);
  if (words[0] == "graph") return graph_command(rest);
  return std::nullopt;
}

int run_tool(int argc, char** argv) {
  if (const std::optional<int> code = run_other_verb({argv + std::min(argc, 1), argv + argc})) return *code;
  Session session;
  session.colour = wants_colour(STDERR_FILENO);
  CommandLine line;
  CLI::App app(description);
  app.name("raddle");
  app.option_defaults()->group("Options");
  app.add_flag("--version", line.show_version, "Print the version");
  add_run_options(app, session, line);
  CLI::App* run = app.add_subcommand("run", "Compile and run a script: run [OPTIONS] FILE [ARGUMENTS of the script]");
  run->formatter(std::make_shared<ScriptUsage>("run [OPTIONS] FILE [ARGUMENTS of the script]"));
  add_run_options(*run, session, line);
  CLI::App* check =
      app.add_subcommand("check", "Compile without running: report all errors and warnings; check FILE..");
  check->formatter(std::make_shared<ScriptUsage>("check [OPTIONS] FILE.."));
  add_common(*check, session);
  check->add_option("-e", line.code, "Check this text instead of files")->type_name("CODE");
  CLI::App* repl = app.add_subcommand("repl", "An interactive session; so is `raddle` alone on a terminal");
  add_reading_options(*repl, session.options);
  add_machine_options(*repl, session.options);
  repl->add_option("--patience", session.options.patience_ms,
                   "How long the prompt waits for what was entered before it goes on in the background, in ms "
                   "(default 150)")
      ->type_name("N");
  std::string script_to_load;
  repl->add_option("--load", script_to_load, "Run this script first; its variables and functions stay")
      ->type_name("FILE");
  CLI::App* format = app.add_subcommand("fmt", "Format scripts: one style, no options of style");
  format->add_flag("--check", line.format.check, "Name the files that are not formatted, exit 1 if any; write nothing");
  format->add_flag("--diff", line.format.show_diff, "Show what would change; write nothing");
  format->add_flag("--stdout", line.format.to_stdout, "Print the formatted text; write nothing");
  add_reading_options(*format, session.options);
  format->add_option("FILE", line.files, "Scripts, rewritten in place; `-`: standard input to standard output")
      ->type_name("")
      ->required();
  CLI::App* explanation = app.add_subcommand("explain", "Say what an error or warning means: explain [CODE..]");
  explanation->add_option("CODE", line.codes, "What stands in brackets at the end of a message; none: list all")
      ->type_name("");
  CLI::App* documentation = app.add_subcommand("doc", "Say what the library has, and how to call it: doc [NAME..]");
  documentation->add_option("NAME", line.names, "Function or module; none: list all")->type_name("");
  app.add_subcommand("sweep",
                     "Run a script, or a program, at each point of a space of parameters: sweep SCRIPT.df -p a=1,2");
  app.add_subcommand("runs", "What was run in this folder: runs list, runs show, runs logs, runs rm");
  app.add_subcommand("rerun", "Run points of a sweep again: rerun RUN --failed");
  app.add_subcommand("report", "A page about a sweep, for a browser: report RUN -o report.html");
  app.add_subcommand("trace", "When the points of a sweep ran, for Perfetto: trace RUN -o trace.json");
  app.add_subcommand("graph", "The dataflow graph of a script: graph FILE -o graph.svg, .dot or .mmd");
  CLI::App* show_version = app.add_subcommand("version", "Print the version");
  CLI::App* help = app.add_subcommand("help", "Print this");
  for (const CLI::App* verb : app.get_subcommands({})) line.verbs.push_back(verb->get_name());
  app.footer(
      "`raddle FILE` is `raddle run FILE`. Options stand before FILE; what stands after it is the script's.\n"
      "`raddle run FILE --help` lists the script's parameters.");

  const std::string overview = app.help();  // later it is that of the verb that was given

  // a script's arguments are its own, `--help` and `--version` among them: the tool reads up to the script's name only
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return write_output(app.help()) ? exit_ok : exit_failed;
    return usage_error(error.what());
  }
  if (line.show_version || *show_version) return write_output(fmt::format("{}\n", version)) ? exit_ok : exit_failed;
  if (*help) return write_output(overview) ? exit_ok : exit_failed;
  for (const CLI::App* tool : {explanation, documentation, format, repl})
    if (*tool && !tool->remaining().empty()) return unknown_option(*tool, tool->remaining().front());
  if (*explanation) return explain(line.codes);
  if (*documentation) return document(line.names);
  if (*format) return format_files(session, line.files, line.format);
  CLI::App& used = *run ? *run : *check ? *check : app;
  line.rest = used.remaining();
  const bool has_script = *run || *check || !line.rest.empty() || !line.code.empty() || !session.options.emit.empty();
  if (*repl || !has_script) {
    if (isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0) return run_repl(session, script_to_load);
    if (*repl || isatty(STDIN_FILENO) == 0) line.rest = {"-"};  // from a pipe: a script
  }
  if (!line.rest.empty() && line.code.empty() && line.rest.front().size() > 1 && line.rest.front().starts_with("-"))
    return unknown_option(used, line.rest.front());
  if (argc <= 1 && line.rest.empty()) {
    fmt::print("{}", app.help());
    return exit_usage;
  }

  line.verb_given = *run || *check;
  session.option_names = option_names(*run);
  std::erase(session.option_names, "--help");
  Script script;
  std::vector<std::string> arguments;
  warn_of_missing_folders(session.options);
  if (const int code = find_script(line, script, arguments); code != exit_ok) return code;
  if (*check) return check_scripts(session, line, std::move(script));
  if (!session.options.emit.empty()) return emit_script(session, std::move(script));
  return run_script(session, std::move(script), std::move(arguments));
}

}  // namespace

}  // namespace raddle::driver

namespace {

constexpr int exit_out_of_memory = raddle::driver::exit_failed;

[[noreturn]] void end_out_of_memory() {
  constexpr std::string_view message = "raddle: out of memory: a recursion without end, or too much data at a time\n";
  static_cast<void>(!write(STDERR_FILENO, message.data(), message.size()));
  _exit(exit_out_of_memory);
}

/// An exception that no thread catches: memory, or a fault of ours.
[[noreturn]] void end_by_exception() {
  try {
    if (std::current_exception()) std::rethrow_exception(std::current_exception());
  } catch (const std::bad_alloc&) {
    end_out_of_memory();
  } catch (const std::exception& error) {
    fmt::print(stderr, "raddle: internal error: {}\n", error.what());
  }
  _exit(raddle::driver::exit_internal);
}

}  // namespace

int main(int argc, char** argv) {
  std::set_new_handler(end_out_of_memory);
  std::set_terminate(end_by_exception);
  try {
    const int code = raddle::driver::run_tool(argc, argv);
    const bool written = raddle::driver::write_output("");
    return code == raddle::driver::exit_ok && !written ? raddle::driver::exit_failed : code;
  } catch (const std::bad_alloc&) {
    end_out_of_memory();
  } catch (const std::exception& error) {
    if (std::ferror(stdout) != 0 && !raddle::driver::write_output("")) return raddle::driver::exit_failed;
    fmt::print(stderr, "raddle: internal error: {}\nplease report it with the script that shows it\n", error.what());
    return raddle::driver::exit_internal;
  }
}
