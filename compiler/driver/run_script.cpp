// From text to results, the second half: the optimised IR becomes a program, the VM runs it, and what went wrong is
// told.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "compiler/codegen/background_compiler.hpp"
#include "compiler/driver/app_environment.hpp"
#include "compiler/driver/builtin_names.hpp"
#include "compiler/driver/commands.hpp"
#include "compiler/driver/compile.hpp"
#include "compiler/driver/machine.hpp"
#include "compiler/driver/report_run.hpp"
#include "compiler/driver/script_arguments.hpp"
#include "compiler/driver/signals.hpp"
#include "compiler/emit/emit_program.hpp"
#include "stdlib/native/output.hpp"
#include "vm/interpret/run.hpp"
#include "vm/memory/memory_limit.hpp"
#include "vm/value/text.hpp"

namespace raddle::driver {

namespace {

/// A number of programs that the user gives is meant; else waiting programs may be more than there are cores.
vm::ProcessBudget process_budget(unsigned programs, unsigned workers) {
  const unsigned cores = core_count();
  const auto memory = static_cast<double>(vm::memory_limit_bytes());
  if (programs != 0) return {.programs = programs, .cores = programs, .memory_bytes = memory};
  return {.programs = workers, .cores = std::max(cores, workers), .memory_bytes = memory};
}

void trace_program(const std::string& text) {
  stdlib::flush_output();
  fmt::print(stderr, "raddle: {}\n", text);
}

vm::RunOptions run_options(const Session& session, const std::string& script_path, std::vector<std::string> arguments) {
  const Options& given = session.options;
  vm::RunOptions options;
  options.workers = given.workers != 0 ? given.workers : core_count();
  options.process_budget = process_budget(given.process_limit, options.workers);
  options.call_memory_bytes = given.call_memory_mib << 20;
  options.scheduler_seed = given.scheduler_seed;
  options.inlining = given.inlining == "never" ? vm::Inlining::never : vm::Inlining::adaptive;
  options.scheduler = given.scheduler == "stealing" ? vm::Scheduler::stealing : vm::Scheduler::tree;
  options.queue_order = given.scheduler == "tree-fifo" ? vm::QueueOrder::fifo : vm::QueueOrder::lifo;
  options.leaf_threshold = given.leaf_threshold;
  options.keep_going = given.keep_going;
  options.settings = {.script_path = script_path,
                      .arguments = std::move(arguments),
                      .seed = given.seed,
                      .workers = options.workers,
                      .asserts = !given.disable_asserts};
  options.before_program = [] { stdlib::flush_output(); };
  return options;
}

/// Where Tcl's packages of a script are, the last looked in first: beside it, in folders of -I, in those of -r.
std::vector<std::string> package_folders(const Options& given, const std::string& script_path) {
  const std::string parent = std::filesystem::path(script_path).parent_path().string();
  std::vector<std::string> folders{parent.empty() ? "." : parent};
  folders.insert(folders.end(), given.include_folders.rbegin(), given.include_folders.rend());
  folders.insert(folders.end(), given.package_folders.rbegin(), given.package_folders.rend());
  for (std::string& folder : folders) folder = std::filesystem::absolute(folder).lexically_normal().string();
  return folders;
}

bool asks_for_help(const std::vector<std::string>& arguments) {
  return std::ranges::find(arguments, "--help") != arguments.end();
}

}  // namespace

int run_script(Session& session, Script script, std::vector<std::string> arguments) {
  const std::string path = script.path;
  const std::uint32_t file = session.sources.add(std::move(script.path), std::move(script.text));
  const std::optional<Compilation> compilation = compile(session, file);
  if (session.print_diagnostics() || !compilation) return exit_compile_error;

  const CheckedProgram& checked = *compilation->checked;
  const ArgumentRules rules{checked, reads_words(compilation->module), session.option_names};
  if (asks_for_help(arguments) && (!checked.parameters.empty() || !rules.reads_words))
    return write_output(describe_parameters(checked, path)) ? exit_ok : exit_failed;
  std::expected<ScriptArguments, std::string> read = read_arguments(rules, arguments);
  if (!read) {
    fmt::print(stderr, "raddle: {}\ntry `raddle run {} --help`\n", read.error(), path);
    return exit_usage;
  }

  const std::expected<vm::AppSettings, std::string> apps = app_settings();
  if (!apps) {
    fmt::print(stderr, "raddle: {}\n", apps.error());
    return exit_usage;
  }

  const vm::Program program = emit_program(compilation->module);
  vm::RunOptions options = run_options(session, path, std::move(read->rest));
  options.arguments = std::move(read->parameters);
  options.apps = *apps;
  options.package_folders = package_folders(session.options, path);
  if (traces_apps()) options.trace_program = trace_program;
  codegen::BackgroundCompiler leaf_compiler(
      {&compilation->module, builtin_name, /*unrolls_recursion=*/session.options.inlining != "never"},
      session.options.jit_cache ? codegen::default_cache_folder() : "");
  if (!session.options.interpret_only) options.leaf_compiler = &leaf_compiler;
  vm::CancelHook cancel;
  options.cancel = &cancel;
  const SignalWatch signals({SIGINT, SIGTERM, SIGHUP}, cancelling(cancel));
  const vm::RunResult result = vm::run(program, options);

  if (session.options.show_results)
    for (std::size_t i = 0; i < checked.results.size(); ++i)
      stdlib::print_text(fmt::format("{} = {}\n", checked.variables[checked.results[i].variable].name,
                                     vm::to_text(result.results[i])));
  const bool output_written = stdlib::flush_output();
  if (session.options.statistics) print_statistics(result.counters, leaf_compiler.counters());
  const int code = report_run(session, result, signals.caught());
  if (!output_written && code == exit_ok) {
    fmt::print(stderr, "raddle: standard output could not be written\n");
    return exit_failed;
  }
  return code;
}

}  // namespace raddle::driver
