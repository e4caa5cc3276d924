#include "vm/external/redirects.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>

#include "vm/value/whole_file.hpp"

namespace raddle::vm {
namespace {

using Opened = std::expected<bool, OpenFault>;

std::unexpected<OpenFault> fault(const std::string& path, int error) {
  return std::unexpected(OpenFault{error, "can not open `" + path + "`: " + error_text(error)});
}

bool is_pipe(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode);
}

/// For the program, reads and writes wait as usual.
void let_block(int fd) { fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK); }

/// A stream of our own goes on where it is. @return none: the path names no stream
std::optional<Opened> duplicate_stream(const std::string& path, FileDescriptor& file) {
  const int stream = own_stream(path);
  if (stream < 0) return std::nullopt;
  file = FileDescriptor(fcntl(stream, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  return file ? Opened(true) : Opened(fault(path, errno));
}

Opened open_output(const std::string& path, FileDescriptor& file) {
  if (const std::optional<Opened> opened = duplicate_stream(path, file)) return *opened;
  constexpr int attempts = 2;
  for (int attempt = 1; !file; ++attempt) {
    file = FileDescriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0666));
    const int error = errno;
    if (file) break;
    if (error == ENXIO && is_pipe(path)) return false;
    if (error != ENOENT || attempt == attempts) return fault(path, error);
    std::error_code ignored;  // opening again tells
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  }
  let_block(file.get());
  return true;
}

/// Takes nothing out of the pipe: what is there is the program's.
bool has_writer(int pipe) {
  pollfd input{.fd = pipe, .events = POLLIN, .revents = 0};
  if (poll(&input, 1, 0) != 0) return true;  // something can be read, or a writer has come and gone
  int scratch[2];
  if (pipe2(scratch, O_CLOEXEC) != 0) return false;
  const bool waits = tee(pipe, scratch[1], 1, SPLICE_F_NONBLOCK) < 0 && errno == EAGAIN;
  close(scratch[0]);
  close(scratch[1]);
  return waits || poll(&input, 1, 0) != 0;
}

/// A pipe stays open meanwhile: its writer is not to lose a reader that it has seen.
Opened open_input(const std::string& path, FileDescriptor& file) {
  if (const std::optional<Opened> opened = duplicate_stream(path, file)) return *opened;
  if (!file) file = FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return fault(path, errno);
  if (is_pipe(path) && !has_writer(file.get())) return false;
  let_block(file.get());
  return true;
}

}  // namespace

std::expected<bool, OpenFault> Redirects::open(const ProcessRequest& request) {
  shared_ = !request.stdout_path.empty() && request.stdout_path == request.stderr_path;
  Opened is_open = request.stdin_path.empty() ? true : open_input(request.stdin_path, in_);
  if (is_open && *is_open && !request.stdout_path.empty()) is_open = open_output(request.stdout_path, out_);
  if (is_open && *is_open && !request.stderr_path.empty() && !shared_)
    is_open = open_output(request.stderr_path, error_);
  return is_open;
}

}  // namespace raddle::vm
