#include "compiler/tool/sweep/make_runner.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "compiler/tool/command/session.hpp"
#include "compiler/tool/run/run_settings.hpp"
#include "compiler/tool/sweep/program_runner.hpp"
#include "compiler/tool/sweep/script_runner.hpp"
#include "vm/memory/memory_limit.hpp"
#include "vm/value/standard_error.hpp"

namespace raddle::tool {

namespace {

/// So many runs at a time share the machine.
void share(vm::RunOptions& options, unsigned runs) {
  options.workers = std::max(1u, options.workers / runs);
  options.settings.workers = options.workers;
  options.process_budget.programs = options.workers;
  if (options.call_memory_bytes == 0) options.call_memory_bytes = vm::memory_limit_bytes() / 2;
  options.call_memory_bytes = std::max(options.call_memory_bytes / runs, std::size_t{1} << 20);
}

/// How many runs at a time do with so many open files.
std::uint64_t jobs_within(std::uint64_t files, std::uint64_t files_of_job) {
  constexpr std::uint64_t other_files = 32;  // the record, the loop, what is opened now and then
  return std::max<std::uint64_t>((files - std::min(files, other_files)) / files_of_job, 1);
}

int too_few_files(unsigned jobs, std::uint64_t files_of_job) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  vm::print_stderr(
      "raddle: -j {}: each run at a time needs {} open files, and no more than {} are allowed (ulimit -n)\n"
      "  = help: -j {}, or a higher limit\n",
      jobs, files_of_job, limit.rlim_cur, jobs_within(limit.rlim_cur, files_of_job));
  return exit_failed;
}

std::expected<std::unique_ptr<sweep::PointRunner>, int> make_program_runner(const SweepPlan& plan, double timeout_s) {
  try {
    return std::make_unique<sweep::ProgramRunner>(plan.command, plan.collectors, *plan.inputs, plan.run.jobs,
                                                  timeout_s);
  } catch (const std::system_error& error) {
    if (error.code().value() != EMFILE) throw;
  }
  return std::unexpected(too_few_files(plan.run.jobs, sweep::ProgramRunner::files_of_job));
}

/// Of Turbine, which `raddle run` runs. A sweep's points are many runs in one process.
void warn_of_hooks() {
  for (const char* const name : {"TURBINE_LEADER_HOOK_STARTUP", "TURBINE_WORKER_HOOK_STARTUP",
                                 "TURBINE_LEADER_HOOK_SHUTDOWN", "TURBINE_WORKER_HOOK_SHUTDOWN"})
    if (const char* const hook = std::getenv(name); hook != nullptr && *hook != '\0')
      warn(fmt::format("{}: a sweep does not run it; `raddle sweep .. -- raddle run FILE` does for each point", name));
}

}  // namespace

std::expected<std::unique_ptr<sweep::PointRunner>, int> make_runner(const SweepPlan& plan, std::uint64_t points,
                                                                    double timeout_s) {
  if (!plan.script) return make_program_runner(plan, timeout_s);
  if (!plan.script->options().is_quiet) warn_of_hooks();
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  auto settings = run_options(plan.script->options(), plan.script->path());
  if (!settings) return std::unexpected(settings.error());
  share(*settings, static_cast<unsigned>(std::clamp<std::uint64_t>(points, 1, plan.run.jobs)));
  const std::uint64_t files_of_job =
      ScriptRunner::files_of_job + settings->process_budget.programs * ScriptRunner::files_of_program;
  if (!plan.script->program().apps.empty() && plan.run.jobs > jobs_within(files.rlim_cur, files_of_job))
    return std::unexpected(too_few_files(plan.run.jobs, files_of_job));
  return std::make_unique<ScriptRunner>(*plan.script, std::move(*settings), plan.space, *plan.columns, plan.collectors,
                                        *plan.inputs, plan.run.jobs, timeout_s);
}

}  // namespace raddle::tool
