#include "stdlib/native/file_content.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "vm/value/file_descriptor.hpp"

namespace raddle::stdlib::native {
namespace {

std::unexpected<std::string> failure(const char* action, const std::string& path, int error) {
  return std::unexpected(fmt::format("can not {} `{}`: {}", action, path, vm::error_text(error)));
}

}  // namespace

std::expected<std::string, std::string> read_file(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return failure("read", path, errno);
  struct stat status {};
  fstat(fd, &status);
  std::string bytes;
  std::size_t used = 0;
  int error = 0;
  for (;;) {
    // One byte more than the size it had: the read that finds the end needs no second buffer.
    if (used == bytes.size()) bytes.resize(used == 0 ? static_cast<std::size_t>(status.st_size) + 1 : 2 * used + 4096);
    const ssize_t count = read(fd, bytes.data() + used, bytes.size() - used);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) error = errno;
    if (count <= 0) break;
    used += static_cast<std::size_t>(count);
  }
  close(fd);
  if (error != 0) return failure("read", path, error);
  bytes.resize(used);
  return bytes;
}

std::expected<void, std::string> write_file(const std::string& path, std::string_view bytes) {
  constexpr int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
  int fd = open(path.c_str(), flags, 0666);
  if (fd < 0 && errno == ENOENT) {
    std::error_code ignored;  // opening again tells
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
    fd = open(path.c_str(), flags, 0666);
  }
  if (fd < 0) return failure("write", path, errno);
  int error = vm::write_all(fd, bytes);
  if (close(fd) != 0 && error == 0) error = errno;
  if (error == 0) return {};
  struct stat status {};
  if (stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode)) unlink(path.c_str());
  return failure("write", path, error);
}

}  // namespace raddle::stdlib::native
