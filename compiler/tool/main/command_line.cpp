#include "compiler/tool/main/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "compiler/tool/settings/settings.hpp"
#include "compiler/tool/main/usage.hpp"
#include "compiler/tool/main/verbs.hpp"
#include "compiler/opt/pipeline.hpp"

namespace raddle::tool {

namespace {

constexpr const char* description =
    R"(raddle: an implicitly parallel dataflow language (Swift/T's), compiled and run on all cores.

examples:
  raddle run model.df                     run a script
  raddle run model.df --T=350             set the script's parameter T
  raddle -e 'import io; printf("%i", 6*7);'   run a line
)";

void add_common(CLI::App& app, Session& session) {
  Options& options = session.options;
  app.prefix_command();
  add_reading_options(app, options);
  add_profile_option(app, options.profile);
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
      ->check(is_whole_from(0))
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
  app.add_flag_callback(
      "--no-cache", [&options] { options.takes_kept_calls = false; },
      "Run all calls of @memo functions anew: take nothing from the record of earlier runs");
  app.add_flag_callback(
      "--no-record", [&options] { options.records_tasks = false; },
      "Keep no record of the programs and calls of @memo functions of this run in ./.raddle");
  app.add_flag("-k,--keep-going", options.keep_going, "After a failure go on with all that does not depend on it");
  app.add_option_function<std::string>(
         "--timeout", [&options](const std::string& text) { options.timeout_s = read_time("--timeout", text); },
         "End the run when it takes longer, with exit code 124: seconds, or 90s, 5m, 2h")
      ->type_name("TIME");
  add_loudness_options(app, options,
                       "Tell each external program on standard error: as it starts, after `+` as it could be typed; as "
                       "it ends, after `-`, with its exit code and time");
  app.add_flag("--results", options.show_results, "Print the values marked @result at the end");
  app.add_flag("--stats", options.statistics,
               "Print counters to stderr at the end; COUNTERS of `raddle man` says what they mean");
  app.add_option("--trace", options.trace, "Write when each task ran, for https://ui.perfetto.dev")->type_name("FILE");
  app.add_option("--emit", options.emit,
                 fmt::format("Print a stage instead of running: {}", fmt::join(stage_names(), ", ")))
      ->check(CLI::IsMember(stage_names()))
      ->type_name("STAGE");
  app.add_flag("--json", options.as_json,
               "At the end, one line of JSON on standard output: exit code, results, findings, and what the script and "
               "its programs have printed there, in `output`: the last 16 MiB, if it is more with its size in "
               "`output_bytes`; the number of its form in `schema`")
      ->excludes("--emit");
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
      ->check(is_whole_from(0))
      ->group(debugging)
      ->type_name("N");
  app.add_option("--inlining", options.inlining,
                 "Calls whose inputs are set run on their caller's stack while all workers have work: adaptive "
                 "(default); or each call that can be a task is one: never")
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
      ->check(is_whole_from(0))
      ->group(debugging)
      ->type_name("N");
}

}  // namespace

CommandLineReader::CommandLineReader(Session& session) : app(description) {
  app.name("raddle");
  app.option_defaults()->group("Options");
  app.require_subcommand(0, 1);  // `raddle doc trace`: the second one is no verb
  app.add_flag("--version", line.show_version, "Print the version");
  add_run_options(app, session, line);
  add_verbs(session);
  app.footer(
      "`raddle FILE` is `raddle run FILE`. Options stand before FILE; what stands after it is the script's.\n"
      "`raddle run FILE --help` lists the script's parameters.\n"
      "Settings may also stand in raddle.toml, ~/.config/raddle/config.toml and RADDLE_<OPTION>: `raddle man`, "
      "SETTINGS.");
}

void CommandLineReader::add_verbs(Session& session) {
  run = app.add_subcommand("run", "Compile and run a script: run [OPTIONS] FILE [ARGUMENTS of the script]");
  run->formatter(std::make_shared<ScriptUsage>("run [OPTIONS] FILE [ARGUMENTS of the script]"));
  add_run_options(*run, session, line);
  check = app.add_subcommand("check", "Compile without running: report all errors and warnings; check FILE..");
  check->formatter(std::make_shared<ScriptUsage>("check [OPTIONS] FILE.."));
  add_common(*check, session);
  check->add_option("-e", line.code, "Check this text instead of files")->type_name("CODE");
  check->add_flag(
      "--json", line.as_json,
      "Findings as JSON on standard output, a line for each script, with the number of its form in `schema`");
  repl = app.add_subcommand("repl", "An interactive session; so is `raddle` alone on a terminal");
  add_reading_options(*repl, session.options);
  add_profile_option(*repl, session.options.profile);
  add_machine_options(*repl, session.options);
  repl->add_option("--patience", session.options.patience_ms,
                   "How long the prompt waits for what was entered before it goes on in the background, in ms "
                   "(default 150)")
      ->check(is_whole_from(0))
      ->type_name("N");
  repl->add_option("--load", line.script_to_load, "Run this script first; its variables and functions stay")
      ->type_name("FILE");
  format = app.add_subcommand("fmt", "Format scripts: one style, no options of style");
  format->add_flag("--check", line.format.check, "Name the files that are not formatted, exit 1 if any; write nothing");
  format->add_flag("--diff", line.format.show_diff, "Show what would change; write nothing");
  format->add_flag("--json", line.format.as_json,
                   "Which files change, or would with --check, as JSON on standard output, one line with the number of "
                   "its form in `schema`");
  format->add_flag("--stdout", line.format.to_stdout, "Print the formatted text; write nothing");
  add_reading_options(*format, session.options);
  format->add_option("FILE", line.files, "Scripts, rewritten in place; `-`: standard input to standard output")
      ->type_name("")
      ->required();
  explanation = app.add_subcommand("explain", "Say what an error or warning means: explain [CODE..]");
  constexpr const char* as_json = "As JSON, one line with the number of its form in `schema`";
  explanation->add_flag("--json", line.as_json, as_json);
  explanation->add_option("CODE", line.codes, "What stands in brackets at the end of a message; none: list all")
      ->type_name("");
  documentation = app.add_subcommand("doc", "Say what the library has, and how to call it: doc [NAME..]");
  documentation->add_flag("--json", line.as_json, as_json);
  documentation->add_option("NAME", line.names, "Function or module; none: list all")->type_name("");
  for (const Verb* verb : other_verbs()) app.add_subcommand(verb->name, verb->about);
  show_version = app.add_subcommand("version", "Print the version");
  show_version->add_flag("--json", line.as_json, as_json);
  help = app.add_subcommand("help", "Print this, or what --help of a verb does: help [VERB]");
}

std::vector<std::string> CommandLineReader::verb_names() {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands({})) names.push_back(verb->get_name());
  return names;
}

std::vector<std::string> CommandLineReader::run_option_names() const {
  std::vector<std::string> names;
  for (const CLI::Option* option : run->get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  std::erase(names, "--help");
  return names;
}

}  // namespace raddle::tool
