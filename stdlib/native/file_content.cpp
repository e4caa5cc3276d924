#include "stdlib/native/file_content.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "vm/value/file_descriptor.hpp"
#include "vm/value/temporaries.hpp"
#include "vm/value/whole_file.hpp"

namespace raddle::stdlib::native {
namespace {

std::unexpected<std::string> failure(const char* action, const std::string& path, int error) {
  return std::unexpected(fmt::format("can not {} `{}`: {}", action, path, vm::error_text(error)));
}

std::expected<std::optional<vm::FileIdentity>, std::string> write_by(const std::string& path,
                                                                     const std::function<int(int)>& fill) {
  const auto written = vm::write_whole(path, 0666, fill);
  if (!written) return failure("write", path, written.error());
  return *written;
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

std::expected<std::optional<vm::FileIdentity>, std::string> write_file(const std::string& path,
                                                                       std::string_view bytes) {
  return write_by(path, [bytes](int fd) { return vm::write_all(fd, bytes); });
}

std::expected<void, std::string> write_file(vm::File& file, const std::function<int(int)>& fill) {
  const std::string& path = file.path();
  if (path.empty()) return std::unexpected(no_temporary());
  const auto written = write_by(path, fill);
  if (!written) return std::unexpected(written.error());
  file.set_written(*written);
  return {};
}

std::expected<void, std::string> write_file(vm::File& file, std::string_view bytes) {
  return write_file(file, [bytes](int fd) { return vm::write_all(fd, bytes); });
}

std::string no_temporary() { return fmt::format("no temporary file could be made in `{}`", vm::temporary_folder()); }

}  // namespace raddle::stdlib::native
