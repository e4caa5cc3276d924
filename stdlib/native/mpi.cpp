#include "stdlib/native/mpi.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

#include "stdlib/module_sources.hpp"
#include "stdlib/native/file_content.hpp"
#include "stdlib/native/functions.hpp"
#include "stdlib/native/output.hpp"
#include "stdlib/native/programs.hpp"
#include "vm/external/outside.hpp"
#include "vm/value/array.hpp"
#include "vm/value/temporaries.hpp"

namespace raddle::stdlib::native {

using vm::Value;

bool is_in_path(const std::string& program) {
  const char* const path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::string file = std::string(rest.substr(0, end)) + "/" + program;
    if (access(file.c_str(), X_OK) == 0) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

std::expected<std::vector<std::string>, std::string> mpi_words(std::int64_t process_count, std::string_view who) {
  if (process_count < 1 || process_count > most_processes)
    return std::unexpected(fmt::format("{}: {} processes: not between 1 and {}", who, process_count, most_processes));
  if (!is_in_path("mpiexec"))
    return std::unexpected(fmt::format(
        "{}: several processes are started by `mpiexec`, which is not in PATH; packages mpich and openmpi-bin have one",
        who));
  return std::vector<std::string>{"mpiexec", "-n", std::to_string(process_count)};
}

/// The first words of an app with `@par`. One process needs no launcher.
Result launcher_words(Call, Arguments arguments, Results results) {
  std::vector<Value> words;
  if (arguments[0].as_int() != 1) {
    const auto found = mpi_words(arguments[0].as_int(), "`@par`");
    if (!found) return fail(found.error());
    for (const std::string& word : *found) words.push_back(Value::of(word));
  }
  return give(results, Value::of_object(vm::ValueKind::array, vm::Array::dense(std::move(words))));
}

namespace {

/// Of one call: code, expression, answer.
class CallFiles {
 public:
  CallFiles() {
    for (std::string& path : paths) path = vm::make_temporary();
  }
  ~CallFiles() {
    for (const std::string& path : paths)
      if (!path.empty()) vm::remove_temporary(path);
  }
  CallFiles(const CallFiles&) = delete;
  CallFiles& operator=(const CallFiles&) = delete;
  bool are_there() const { return std::ranges::none_of(paths, &std::string::empty); }

  std::array<std::string, 3> paths;
};

vm::BuiltinOutcome outcome_of(const CallFiles& files, const vm::ProcessResult& ended) {
  const auto answer = read_file(files.paths[2]);
  if (answer && answer->starts_with('r')) return std::vector{Value::of(answer->substr(1))};
  if (answer && answer->starts_with('e')) return std::unexpected("python_parallel_persist: " + answer->substr(1));
  if (!ended.start_error.empty()) return std::unexpected("python_parallel_persist: mpiexec: " + ended.start_error);
  return std::unexpected(
      fmt::format("python_parallel_persist: mpiexec ended with exit code {}", shell_exit_code(ended)));
}

}  // namespace

/// Each call has processes of its own. What they print goes where the run prints.
Result python_parallel_persist(Call call, Arguments arguments, Results) {
  const auto launcher = mpi_words(arguments[2].as_int(), "python_parallel_persist");
  if (!launcher) return fail(launcher.error());
  const auto files = std::make_shared<CallFiles>();
  if (!files->are_there()) return fail("python_parallel_persist: " + no_temporary());
  for (std::size_t i = 0; i < 2; ++i)
    if (const auto written = write_file(files->paths[i], arguments[i].as_string()); !written)
      return fail(written.error());
  vm::ProcessRequest request;
  request.words = *launcher;
  for (const std::string& word : {std::string("python3"), std::string("-X"), std::string("utf8"), std::string("-c"),
                                  std::string(parallel_python())})
    request.words.push_back(word);
  request.words.insert(request.words.end(), files->paths.begin(), files->paths.end());
  vm::Outside& outside = call.host->outside();
  const vm::Variables own = outside.environment_of(call.host->rank());
  request.environment.assign(own.begin(), own.end());
  flush_output();
  outside.processes().spawn(std::move(request), [files, end = call.host->end_later()](const vm::ProcessResult& ended) {
    end(outcome_of(*files, ended), vm::RankWish::any);
  });
  return {};
}

}  // namespace raddle::stdlib::native
