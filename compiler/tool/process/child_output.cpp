#include "compiler/tool/process/child_output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "vm/external/start_child.hpp"
#include "vm/value/file_descriptor.hpp"

namespace raddle::tool {

namespace {

/// A file without a name, in memory: it needs no folder.
class TemporaryFile {
 public:
  TemporaryFile() : file_(memfd_create("raddle", MFD_CLOEXEC)) {}
  int fd() const { return file_.get(); }
  void rewind() const { lseek(fd(), 0, SEEK_SET); }
  std::string read() const {
    std::string text;
    char piece[1 << 16];
    rewind();
    for (ssize_t count = 0; (count = ::read(fd(), piece, sizeof piece)) > 0;)
      text.append(piece, static_cast<std::size_t>(count));
    return text;
  }

 private:
  vm::FileDescriptor file_;
};

}  // namespace

std::expected<ChildOutput, std::string> run_child(const std::vector<std::string>& words, const std::string& input,
                                                  bool with_errors) {
  const auto no_file = [](int error) {
    return std::unexpected(fmt::format("no temporary file: {}", vm::error_text(error)));
  };
  const TemporaryFile given, printed;
  if (given.fd() < 0 || printed.fd() < 0) return no_file(errno);
  if (const int error = vm::write_all(given.fd(), input); error != 0) return no_file(error);
  given.rewind();
  ChildOutput output;
  const std::expected<pid_t, int> child = vm::start_child({.words = words,
                                                           .environment = {},
                                                           .stdin_fd = given.fd(),
                                                           .stdout_fd = printed.fd(),
                                                           .stderr_fd = with_errors ? printed.fd() : -1});
  if (!child && child.error() == ENOENT) {
    output.is_found = false;
    return output;
  }
  if (!child)
    return std::unexpected(fmt::format("`{}` could not be started: {}", words.front(), vm::error_text(child.error())));
  siginfo_t ended;
  while (waitid(P_PID, static_cast<id_t>(*child), &ended, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
  }
  vm::child_has_ended();
  while (waitpid(*child, &output.status, 0) < 0 && errno == EINTR) {
  }
  output.out = printed.read();
  return output;
}

}  // namespace raddle::tool
