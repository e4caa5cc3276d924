#include "stdlib/numbers/byte_source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace raddle::stdlib::native {

std::unexpected<std::string> FileSource::failure(int error) {
  return std::unexpected("can not be read: " + vm::error_text(error));
}

std::expected<FileSource, std::string> FileSource::open(const std::string& path) {
  FileSource source{vm::FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC))};
  if (!source.file_) return failure(errno);
  return source;
}

std::expected<std::size_t, std::string> FileSource::read(std::span<std::byte> bytes) {
  std::size_t count = 0;
  while (count < bytes.size()) {
    const ssize_t read = ::read(file_.get(), bytes.data() + count, bytes.size() - count);
    if (read < 0 && errno == EINTR) continue;
    if (read < 0) return failure(errno);
    if (read == 0) break;
    count += static_cast<std::size_t>(read);
  }
  return count;
}

std::optional<std::size_t> FileSource::size() const {
  struct stat status;
  if (fstat(file_.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return static_cast<std::size_t>(status.st_size);
}

std::expected<void, std::string> FileSource::go_to(std::uint64_t place) {
  if (lseek(file_.get(), static_cast<off_t>(place), SEEK_SET) < 0) return failure(errno);
  return {};
}

}  // namespace raddle::stdlib::native
