// launch: programs of several processes. With `mpiexec` in PATH (or another launcher that is asked for) it starts them,
// else they are plain copies of the program.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>

#include "stdlib/native/elements.hpp"
#include "stdlib/native/file_content.hpp"
#include "stdlib/native/functions.hpp"
#include "stdlib/native/mpi.hpp"
#include "stdlib/native/output.hpp"
#include "stdlib/native/parse_number.hpp"
#include "stdlib/native/programs.hpp"

namespace raddle::stdlib::native {
namespace {

using vm::Value;

struct Launch {
  std::int64_t process_count = 1;
  std::vector<std::string> words;
  std::vector<std::pair<std::string, std::string>> environment;
  std::string launcher;  // "" = mpiexec where it is
  std::string folder;    // "" = the run's
  double timeout_s = 0;
};

Result write_hosts(const std::string& path) {
  char name[256] = {};
  if (gethostname(name, sizeof name - 1) != 0) return fail("launch: this host has no name");
  const auto written = write_file(path, std::string(name) + "\n");
  return written ? Result() : fail(written.error());
}

// One "NAME=VALUE" of the environment; some names are for us.
Result set_variable(Launch& launch, const std::string& setting) {
  const std::size_t equals = setting.find('=');
  if (equals == std::string::npos) return fail(fmt::format("launch: '{}' is no NAME=VALUE", setting));
  const std::string name = setting.substr(0, equals), value = setting.substr(equals + 1);
  if (name == "swift_launcher") {
    launch.launcher = value;
  } else if (name == "swift_chdir") {
    launch.folder = value;
  } else if (name == "swift_write_hosts") {
    return write_hosts(value);
  } else if (name == "swift_timeout") {
    const auto seconds = read_float(value);
    if (!seconds || !(*seconds > 0)) return fail(fmt::format("launch: swift_timeout={}: no number above 0", value));
    launch.timeout_s = *seconds;
  } else {
    launch.environment.emplace_back(name, value);
  }
  return {};
}

std::expected<Launch, std::string> describe(std::int64_t process_count, const std::string& command, const Value& args,
                                            const Value* environment) {
  Launch launch;
  launch.process_count = process_count;
  if (process_count < 1 || process_count > most_processes) {
    return std::unexpected(fmt::format("launch: {} processes: not between 1 and {}", process_count, most_processes));
  }
  launch.words = {command};
  for (const Value& word : elements(args)) launch.words.push_back(word.as_string());
  if (environment == nullptr) return launch;
  for (const Value& setting : elements(*environment)) {
    if (auto set = set_variable(launch, setting.as_string()); !set) return std::unexpected(set.error());
  }
  return launch;
}

// The processes to start, each with all that it needs.
std::vector<vm::ProcessRequest> requests_of(const Launch& launch) {
  vm::ProcessRequest request;
  request.environment = launch.environment;
  request.timeout_s = launch.timeout_s;
  if (!launch.folder.empty()) request.words = {"env", "-C", launch.folder};
  const std::string launcher = !launch.launcher.empty() ? launch.launcher : is_in_path("mpiexec") ? "mpiexec" : "";
  const bool launched = !launcher.empty() && (launch.process_count > 1 || !launch.launcher.empty());
  if (launched) {
    for (const std::string& word : {launcher, std::string("-n"), std::to_string(launch.process_count)}) {
      request.words.push_back(word);
    }
  }
  request.words.insert(request.words.end(), launch.words.begin(), launch.words.end());
  return std::vector(launched ? 1 : static_cast<std::size_t>(launch.process_count), request);
}

// Ends the call when the last process has ended, with the first exit code that is not 0.
Result start(Call call, const std::vector<Launch>& launches) {
  std::vector<vm::ProcessRequest> requests;
  for (const Launch& launch : launches) {
    for (vm::ProcessRequest& request : requests_of(launch)) requests.push_back(std::move(request));
  }
  if (requests.empty()) return fail("launch: there is no program");
  struct Group {
    std::mutex mutex;  // guards the next two: several that have ended may be told of at a time
    std::size_t running;
    int exit_code = 0;
    vm::BuiltinCompletion end;
  };
  const auto group = std::make_shared<Group>();
  group->running = requests.size();
  group->end = call.host->end_later();
  flush_output();
  const vm::Variables own = call.host->outside().environment_of(call.host->rank());
  for (vm::ProcessRequest& request : requests) {
    request.environment.insert(request.environment.begin(), own.begin(), own.end());  // what the script gives counts
    call.host->outside().processes().spawn(std::move(request), [group](const vm::ProcessResult& result) {
      std::unique_lock lock(group->mutex);
      if (group->exit_code == 0) group->exit_code = shell_exit_code(result);
      const bool is_last = --group->running == 0;
      const std::int64_t exit_code = group->exit_code;
      lock.unlock();
      if (is_last) group->end(std::vector{Value::of(exit_code)}, vm::RankWish::any);
    });
  }
  return {};
}

}  // namespace

Result launch(Call call, Arguments arguments, Results) {
  const auto described = describe(arguments[2].as_int(), arguments[0].as_string(), arguments[1], nullptr);
  if (!described) return fail(described.error());
  return start(call, {*described});
}

Result launch_envs(Call call, Arguments arguments, Results) {
  const auto described = describe(arguments[3].as_int(), arguments[0].as_string(), arguments[1], &arguments[2]);
  if (!described) return fail(described.error());
  return start(call, {*described});
}

// Several programs at once. How the ranks of one MPI run are spread over them (the last argument) makes no difference
// where each program is a run of its own.
Result launch_multi(Call call, Arguments arguments, Results) {
  const std::vector<Value> counts = elements(arguments[0]), commands = elements(arguments[1]),
                           args = elements(arguments[2]), environments = elements(arguments[3]);
  const bool no_environments = environments.empty();
  if (commands.size() != counts.size() || args.size() != counts.size() ||
      (!no_environments && environments.size() != counts.size())) {
    return fail(
        fmt::format("launch_multi: {} numbers of processes, {} commands, {} lists of arguments, {} environments",
                    counts.size(), commands.size(), args.size(), environments.size()));
  }
  std::vector<Launch> launches;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    auto described =
        describe(counts[i].as_int(), commands[i].as_string(), args[i], no_environments ? nullptr : &environments[i]);
    if (!described) return fail(described.error());
    launches.push_back(std::move(*described));
  }
  return start(call, launches);
}

}  // namespace raddle::stdlib::native
