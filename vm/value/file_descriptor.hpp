#pragma once
// File descriptors that are owned and written to, and what the system says of an error.
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace raddle::vm {

/// Owns a file descriptor; -1: none.
class FileDescriptor {
 public:
  explicit FileDescriptor(int fd = -1) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FileDescriptor();
  int get() const { return fd_; }
  /// It is the caller's from now on.
  int release() { return std::exchange(fd_, -1); }
  explicit operator bool() const { return fd_ >= 0; }
  /// Before its time. @return 0, or an errno: of what was to be written
  int close();

 private:
  int fd_;
};

/// Writes all of them unless there is an error. @return 0, or its errno
int write_all(int fd, std::string_view bytes);

/// All that comes from a pipe until nobody writes to it any more, or there is an error.
std::string read_to_end(int fd);

/// Bytes of a file; 0 of what is none.
std::uint64_t size_of(const FileDescriptor& file);
/// The end of a file of this size, at most so many bytes.
std::string end_of(const FileDescriptor& file, std::uint64_t size, std::uint64_t most);

/// "no such file or directory": the system's text for an errno, in lower case as our messages are.
std::string error_text(int error);

}  // namespace raddle::vm
