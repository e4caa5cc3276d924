#include "vm/foreign/rank_hook.hpp"

#include <fmt/format.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "vm/foreign/tcl_interpreter.hpp"
#include "vm/value/file_descriptor.hpp"

namespace raddle::vm {

namespace {

using HookVariables = std::vector<std::pair<std::string, std::string>>;

constexpr const char* names_of_rank[] = {"ADLB_RANK_SELF", "ADLB_RANK_OFFSET"};

/// It may end its process, which is its own.
constexpr const char* own_exit = "rename ::exit {}\nrename ::raddle::exit_process ::exit\n";

/// The first byte of what the process answers.
constexpr char hook_failed = 'e', hook_done = 'r';

/// What the process answers: the text of an error, or the entries of its environment, each with a zero byte behind it.
std::string answer_of_hook(const std::string& script, std::int32_t rank, unsigned workers,
                           const HookVariables& variables) {
  const int empty = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (empty >= 0) dup2(empty, STDIN_FILENO);  // the standard input is not theirs
  for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
  for (const char* const name : names_of_rank) setenv(name, std::to_string(rank).c_str(), 1);
  setenv("ADLB_RANK_LEADER", "0", 1);
  const auto interpreter = TclInterpreter::make(rank, static_cast<int>(workers));
  const std::string problem =
      interpreter ? (*interpreter)->run(own_exit + script + "\nflush stdout") : interpreter.error();
  if (!problem.empty()) return hook_failed + problem;
  std::string answer(1, hook_done);
  for (char** entry = environ; *entry != nullptr; ++entry) answer.append(*entry, std::strlen(*entry) + 1);
  return answer;
}

/// Those that this process has not, or with another value.
HookVariables changes_in(std::string_view entries) {
  HookVariables changed;
  for (std::size_t end = 0; (end = entries.find('\0')) != std::string_view::npos; entries.remove_prefix(end + 1)) {
    const std::string_view entry = entries.substr(0, end);
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string name(entry.substr(0, equals)), value(entry.substr(equals + 1));
    if (name.starts_with("ADLB_RANK_")) continue;  // each rank has its own anyway
    const char* const ours = std::getenv(name.c_str());
    if (ours == nullptr || value != ours) changed.emplace_back(name, value);
  }
  return changed;
}

}  // namespace

std::expected<HookVariables, std::string> run_rank_hook(const std::string& script, std::int32_t rank, unsigned workers,
                                                        const HookVariables& variables) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return std::unexpected(error_text(errno));
  const FileDescriptor reader(ends[0]);
  FileDescriptor writer(ends[1]);
  const pid_t child = fork();
  if (child < 0) return std::unexpected(error_text(errno));
  if (child == 0) {
    write_all(writer.get(), answer_of_hook(script, rank, workers, variables));
    _exit(0);
  }
  writer = FileDescriptor();
  const std::string answer = read_to_end(reader.get());
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (answer.empty())  // it has called `exit`, which may be meant, or was ended
    return WIFEXITED(status) && WEXITSTATUS(status) == 0
               ? std::expected<HookVariables, std::string>()
               : std::unexpected(WIFEXITED(status) ? fmt::format("it ended with exit code {}", WEXITSTATUS(status))
                                                   : fmt::format("it was ended by signal {}", WTERMSIG(status)));
  if (answer[0] == hook_failed) return std::unexpected(answer.substr(1));
  return changes_in(std::string_view(answer).substr(1));
}

}  // namespace raddle::vm
