#include "vm/foreign/isolated_call.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

#include "vm/value/buffer.hpp"
#include "vm/value/file_descriptor.hpp"

namespace raddle::vm {

namespace {

void give(int fd, std::string_view bytes) {
  if (write_all(fd, bytes) != 0) _exit(127);  // nobody reads any more
}

// The outcome as bytes: `e` and the error's text, `s` and a string, `w` and the bits of a number, `v`.
void send(int fd, const std::string& error, const Value& value) {
  if (!error.empty()) {
    give(fd, "e");
    return give(fd, error);
  }
  const auto send_word = [fd](auto word) {
    give(fd, "w");
    give(fd, {reinterpret_cast<const char*>(&word), sizeof word});
  };
  const ValueKind kind = value.kind();
  if (is_number(kind)) return send_word(value.bits());
  give(fd, kind == ValueKind::string ? "s" : "v");
  if (kind == ValueKind::string) give(fd, value.as_string());
}

std::string receive(ValueKind kind, const std::string& bytes, Value& returned) {
  std::string rest = bytes.substr(1);
  if (bytes[0] == 'e') return rest;
  if (bytes[0] == 's') {
    returned = Value::of(std::move(rest));
    return {};
  }
  if (bytes[0] == 'v' || rest.size() != sizeof(std::int64_t)) {
    returned = Value::of_void();
    return {};
  }
  std::uint64_t bits;
  std::memcpy(&bits, rest.data(), sizeof bits);
  returned = Value::from_bits(kind, bits);
  return {};
}

}  // namespace

std::string call_isolated(const std::string& name, ValueKind kind, Value& returned,
                          const std::function<std::string()>& call) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return fmt::format("no pipe: {}", error_text(errno));
  std::fflush(nullptr);  // else the child would print it once more
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const std::string error = call();
    send(ends[1], error, returned);
    _exit(0);
  }
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    return fmt::format("no process for `{}`: {}", name, error_text(errno));
  }
  const std::string bytes = read_to_end(ends[0]);
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return fmt::format("`{}` was ended by signal {} ({})", name, signal, strsignal(signal));
  }
  if (bytes.empty()) {
    return fmt::format("`{}` ended its process with exit code {}", name, WEXITSTATUS(status));
  }
  return receive(kind, bytes, returned);
}

}  // namespace raddle::vm
