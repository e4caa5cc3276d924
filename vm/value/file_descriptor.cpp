#include "vm/value/file_descriptor.hpp"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <system_error>

namespace raddle::vm {

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) ::close(fd_);
}

int FileDescriptor::close() { return ::close(std::exchange(fd_, -1)) == 0 ? 0 : errno; }

int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(fd, bytes.data(), bytes.size());
    if (count >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN) {  // whoever has it open, too, does not want to wait
      pollfd room{.fd = fd, .events = POLLOUT, .revents = 0};
      poll(&room, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

std::string read_to_end(int fd) {
  std::string bytes;
  char buffer[4096];
  for (;;) {
    const ssize_t count = read(fd, buffer, sizeof buffer);
    if (count > 0) bytes.append(buffer, static_cast<std::size_t>(count));
    if (count == 0 || (count < 0 && errno != EINTR)) return bytes;
  }
}

std::uint64_t size_of(const FileDescriptor& file) {
  struct stat status;
  return fstat(file.get(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

std::string end_of(const FileDescriptor& file, std::uint64_t size, std::uint64_t most) {
  std::string text(std::min(size, most), '\0');
  std::size_t read = 0;
  while (read < text.size()) {
    const ssize_t count =
        pread(file.get(), text.data() + read, text.size() - read, static_cast<off_t>(size - text.size() + read));
    if (count <= 0) break;
    read += static_cast<std::size_t>(count);
  }
  text.resize(read);
  return text;
}

std::string error_text(int error) {
  std::string text = std::generic_category().message(error);
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

}  // namespace raddle::vm
