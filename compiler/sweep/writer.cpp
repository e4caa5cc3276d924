#include "compiler/sweep/writer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "vm/external/start_child.hpp"

namespace raddle::sweep {
namespace {

/// @return an errno
int write_all(int fd, const Writing& writing) {
  Writer writer(fd);
  writing(writer);
  writer.flush();
  return writer.error();
}

}  // namespace

bool Writer::flush() {
  std::string_view left = waiting_;
  while (!left.empty() && error_ == 0) {
    const ssize_t count = ::write(fd_, left.data(), left.size());
    if (count < 0 && errno != EINTR) error_ = errno;
    if (count > 0) left.remove_prefix(static_cast<std::size_t>(count));
  }
  waiting_.clear();
  return error_ == 0;
}

std::expected<void, std::string> write_file(const std::string& path, const Writing& writing) {
  const auto failed = [&](int error) {
    return std::unexpected(fmt::format("can not write `{}`: {}", path, vm::error_text(error)));
  };
  const std::string temporary = fmt::format("{}.{}.tmp", path, getpid());
  const int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return failed(errno);
  int error = write_all(fd, writing);
  if (error == 0 && fsync(fd) != 0) error = errno;
  if (close(fd) != 0 && error == 0) error = errno;
  if (error == 0 && rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return {};
  unlink(temporary.c_str());
  return failed(error);
}

std::expected<void, std::string> write_to_stdout(const Writing& writing) {
  const int error = write_all(STDOUT_FILENO, writing);
  if (error == 0) return {};
  return std::unexpected(fmt::format("can not write to standard output: {}", vm::error_text(error)));
}

}  // namespace raddle::sweep
