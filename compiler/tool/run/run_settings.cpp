#include "compiler/tool/run/run_settings.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <limits>

#include "compiler/codegen/leaf_cache.hpp"
#include "compiler/tool/formats/quantities.hpp"
#include "compiler/tool/process/machine.hpp"
#include "compiler/tool/process/out_of_memory.hpp"
#include "compiler/tool/run/app_environment.hpp"
#include "gpu/open_devices.hpp"
#include "stdlib/native/code_servers.hpp"
#include "stdlib/native/output.hpp"
#include "vm/memory/bounded_memory.hpp"
#include "vm/memory/memory_limit.hpp"
#include "vm/value/file_descriptor.hpp"
#include "vm/value/standard_error.hpp"
#include "vm/value/temporaries.hpp"

namespace raddle::tool {

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
  vm::print_stderr("raddle: {}\n", text);
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

/// @return false: an error has been told
bool limit_memory(const Options& given) {
  if (given.memory_bytes == 0) return true;
  constexpr std::size_t least = 8 * vm::BoundedMemory::piece_bytes;
  if (given.memory_bytes < least) {
    vm::print_stderr("raddle: --memory: {} is less than can be worked with, {}\n", sweep::size_text(given.memory_bytes),
                     sweep::size_text(least));
    return false;
  }
  const std::string folder = given.spill_folder.empty() ? vm::temporary_folder() : given.spill_folder;
  struct statfs system;
  constexpr auto of_memory = 0x01021994;  // TMPFS_MAGIC of linux/magic.h
  if (statfs(folder.c_str(), &system) == 0 && system.f_type == of_memory)
    warn(fmt::format("the folder `{}` lies in memory itself: --spill with one on a disk", folder));
  const std::expected<void, std::string> begun = vm::BoundedMemory::begin(
      {.limit_bytes = given.memory_bytes, .spill_folder = folder, .end = [](const std::string& why) {
         end_out_of_memory(why);
       }});
  if (!begun) vm::print_stderr("raddle: --spill: {}\n", begun.error());
  return begun.has_value();
}

}  // namespace

std::expected<vm::RunOptions, int> run_options(const Options& given, const std::string& script_path) {
  const std::expected<vm::AppSettings, std::string> apps = app_settings();
  if (!apps) {
    vm::print_stderr("raddle: {}\n", apps.error());
    return std::unexpected(exit_usage);
  }
  if (!limit_memory(given)) return std::unexpected(exit_usage);  // before devices have threads
  const auto devices = gpu::open_devices(
      given.gpus, [keeps = given.jit_cache] { return keeps ? codegen::usable_cubin_folder() : std::string(); },
      given.place);
  if (!devices) {
    vm::print_stderr("raddle: --gpus {}: {}\n", given.gpus, devices.error());
    return std::unexpected(exit_usage);
  }
  if (!devices->lack.empty() && !given.is_quiet) warn(fmt::format("--gpus {}: {}", given.gpus, devices->lack));
  vm::RunOptions options;
  options.devices = devices->devices;
  options.workers = given.workers != 0 ? given.workers : core_count();
  options.process_budget = process_budget(given.process_limit, options.workers);
  options.call_memory_bytes = given.call_memory_mib << 20;
  if (given.call_memory_mib != 0) options.most_nested_calls = std::numeric_limits<std::uint32_t>::max();
  options.place = given.place;
  options.scheduler_seed = given.scheduler_seed;
  options.inlining = given.inlining == "never" ? vm::Inlining::never : vm::Inlining::adaptive;
  options.scheduler = given.scheduler == "stealing" ? vm::Scheduler::stealing : vm::Scheduler::tree;
  options.queue_order = given.scheduler == "tree-fifo" ? vm::QueueOrder::fifo : vm::QueueOrder::lifo;
  options.leaf_threshold = given.leaf_threshold;
  options.keep_going = given.keep_going;
  options.settings = {.script_path = script_path,
                      .arguments = {},
                      .seed = given.seed,
                      .workers = options.workers,
                      .asserts = !given.disable_asserts};
  options.before_program = [] { stdlib::flush_output(); };
  options.apps = *apps;
  options.run_code = stdlib::native::run_code;
  options.python_command = stdlib::native::python_function_command();
  options.r_command = stdlib::native::r_function_command();
  options.package_folders = package_folders(given, script_path);
  if (traces_apps()) options.trace_program = trace_program;
  return options;
}

vm::ProgramOutputs own_streams(const std::function<void()>& unread) {
  const auto terminal = [](int fd) { return isatty(fd) == 1 ? fd : -1; };
  const auto sink = [&](stdlib::Stream stream, int fd) {
    const auto take = [stream, unread](std::string_view text) {
      if (stdlib::offer_text(stream, text)) return true;
      unread();
      return false;
    };
    return vm::OutputSink{
        .take = take, .is_full = [stream] { return stdlib::is_full(stream); }, .terminal_fd = terminal(fd)};
  };
  const auto is_for_writing = [](int fd) { return (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY; };
  struct stat out {
  }, error{};
  const bool are_known = fstat(STDOUT_FILENO, &out) == 0 && fstat(STDERR_FILENO, &error) == 0;
  return {.out = sink(stdlib::Stream::out, STDOUT_FILENO),
          .error = sink(stdlib::Stream::error, STDERR_FILENO),
          .are_one = are_known && out.st_dev == error.st_dev && out.st_ino == error.st_ino &&
                     is_for_writing(STDOUT_FILENO) && is_for_writing(STDERR_FILENO)};
}

}  // namespace raddle::tool
