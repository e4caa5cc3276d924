#include "vm/value/file_descriptor.hpp"

#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <system_error>

namespace raddle::vm {

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) close(fd_);
}

int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(fd, bytes.data(), bytes.size());
    if (count >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

std::string error_text(int error) {
  std::string text = std::generic_category().message(error);
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

}  // namespace raddle::vm
