#include "compiler/tool/run/turbine_environment.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "stdlib/native/output.hpp"
#include "vm/foreign/rank_hook.hpp"
#include "vm/value/file_descriptor.hpp"

namespace raddle::tool {

namespace {

/// nullptr: it is not set, or empty
const char* variable(const char* name) {
  const char* const found = std::getenv(name);
  return found != nullptr && *found != '\0' ? found : nullptr;
}

/// A name in which `@r`, or a row of `%`, stands for the rank: all of a run's output is that of rank 0.
std::string name_for_rank_0(std::string name) {
  for (std::size_t at = 0; (at = name.find("@r", at)) != std::string::npos;) name.replace(at, 2, "0");
  std::ranges::replace(name, '%', '0');
  return name;
}

std::string run_hook(const char* name, unsigned rank, vm::RunOptions& options) {
  const char* const script = variable(name);
  if (script == nullptr) return {};
  vm::Variables& known = options.rank_variables[rank];
  auto set = vm::run_rank_hook(script, static_cast<std::int32_t>(rank), options.workers, known);
  if (!set) return fmt::format("{}: {}", name, set.error());
  for (auto& [variable, value] : *set) {
    std::erase_if(known, [&](const auto& entry) { return entry.first == variable; });
    known.emplace_back(variable, std::move(value));
  }
  return {};
}

/// @param leader, worker  names of variables   @return the text of an error, or ""
std::string run_hooks(const char* leader, const char* worker, vm::RunOptions& options) {
  if (variable(leader) == nullptr && variable(worker) == nullptr) return {};
  stdlib::flush_output();
  options.rank_variables.resize(options.workers);
  std::string problem = run_hook(leader, 0, options);
  for (unsigned rank = 0; problem.empty() && rank < options.workers; ++rank) problem = run_hook(worker, rank, options);
  return problem;
}

}  // namespace

std::string redirect_output() {
  const char* const name = variable("TURBINE_STDOUT");
  if (name == nullptr) return {};
  const std::filesystem::path file = name_for_rank_0(name);
  std::error_code ignored;  // then the file can not be opened
  if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path(), ignored);
  const vm::FileDescriptor opened(open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (opened.get() < 0) return fmt::format("TURBINE_STDOUT: can not write `{}`: {}", name, vm::error_text(errno));
  stdlib::flush_output();
  return dup2(opened.get(), STDOUT_FILENO) < 0 ? "TURBINE_STDOUT: " + vm::error_text(errno) : std::string();
}

std::string begin_ranks(vm::RunOptions& options) {
  std::error_code code;
  const std::filesystem::path tool = std::filesystem::read_symlink("/proc/self/exe", code);
  if (!code) setenv("TURBINE_HOME", tool.parent_path().parent_path().c_str(), /*replace=*/0);
  return run_hooks("TURBINE_LEADER_HOOK_STARTUP", "TURBINE_WORKER_HOOK_STARTUP", options);
}

std::string end_ranks(const vm::RunOptions& options) {
  vm::RunOptions at_end;
  at_end.workers = options.workers;
  at_end.rank_variables = options.rank_variables;
  return run_hooks("TURBINE_LEADER_HOOK_SHUTDOWN", "TURBINE_WORKER_HOOK_SHUTDOWN", at_end);
}

}  // namespace raddle::tool
