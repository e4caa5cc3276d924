#include "compiler/driver/child_output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "compiler/sweep/writer.hpp"
#include "vm/external/start_child.hpp"

namespace raddle::driver {

namespace {

/// A file without a name.
class TemporaryFile {
 public:
  TemporaryFile() {
    std::string name = "/tmp/raddle-XXXXXX";
    fd_ = mkostemp(name.data(), O_CLOEXEC);
    if (fd_ >= 0) unlink(name.c_str());
  }
  ~TemporaryFile() {
    if (fd_ >= 0) close(fd_);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  int fd() const { return fd_; }
  void rewind() const { lseek(fd_, 0, SEEK_SET); }
  std::string read() const {
    std::string text;
    char piece[1 << 16];
    rewind();
    for (ssize_t count = 0; (count = ::read(fd_, piece, sizeof piece)) > 0;)
      text.append(piece, static_cast<std::size_t>(count));
    return text;
  }

 private:
  int fd_ = -1;
};

}  // namespace

std::expected<ChildOutput, std::string> run_child(const std::vector<std::string>& words, const std::string& input,
                                                  bool with_errors) {
  const auto no_file = [](int error) {
    return std::unexpected(fmt::format("no temporary file: {}", vm::error_text(error)));
  };
  const TemporaryFile given, printed;
  if (given.fd() < 0 || printed.fd() < 0) return no_file(errno);
  sweep::Writer writer(given.fd());
  writer.text() = input;
  if (!writer.flush()) return no_file(writer.error());
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
  while (waitpid(*child, &output.status, 0) < 0 && errno == EINTR) {
  }
  output.out = printed.read();
  return output;
}

}  // namespace raddle::driver
