// system, system1: a program's output as a string. Other than apps they hold their worker until the program ends.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "stdlib/native/elements.hpp"
#include "stdlib/native/functions.hpp"
#include "stdlib/native/output.hpp"
#include "vm/external/start_child.hpp"
#include "vm/value/text.hpp"

namespace raddle::stdlib::native {
namespace {

using vm::Value;

constexpr int not_found = 127, not_executable = 126, signal_base = 128;  // exit codes, as in shells

std::string read_to_end(int fd) {
  std::string text;
  char buffer[16 * 1024];
  for (;;) {
    const ssize_t count = read(fd, buffer, sizeof buffer);
    if (count > 0) {
      text.append(buffer, static_cast<std::size_t>(count));
    } else if (count == 0 || errno != EINTR) {
      return text;
    }
  }
}

int exit_code_of(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? signal_base + WTERMSIG(status) : WEXITSTATUS(status);
}

Result run(const std::vector<std::string>& words, Results results) {
  if (words.empty()) return fail("system: there is no command");
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return fail("system: " + vm::error_text(errno));
  flush_output();
  const auto child = vm::start_child({.words = words, .environment = {}, .stdout_fd = ends[1]});
  close(ends[1]);
  std::string text = read_to_end(ends[0]);
  close(ends[0]);
  if (text.ends_with('\n')) text.pop_back();
  const int code = child ? exit_code_of(*child) : child.error() == ENOENT ? not_found : not_executable;
  results[0] = Value::of(std::move(text));
  results[1] = Value::of(std::int64_t{code});
  return {};
}

}  // namespace

Result system_(Call, Arguments arguments, Results results) {
  std::vector<std::string> words;
  for (const Value& word : elements(arguments[0])) words.push_back(vm::to_text(word));
  return run(words, results);
}

Result system1(Call, Arguments arguments, Results results) {
  const std::string_view line = arguments[0].as_string();
  constexpr std::string_view spaces = " \t\n\v\f\r";
  std::vector<std::string> words;
  for (std::size_t begin = 0; (begin = line.find_first_not_of(spaces, begin)) != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(spaces, begin), line.size());
    words.emplace_back(line.substr(begin, end - begin));
    begin = end;
  }
  return run(words, results);
}

}  // namespace raddle::stdlib::native
