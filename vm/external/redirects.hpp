#pragma once
// The files that a program's standard streams are redirected to, opened by us so that the error can name the file.
#include <expected>
#include <string>
#include <utility>

#include "vm/external/processes.hpp"

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

 private:
  int fd_;
};

class Redirects {
 public:
  /// Opens what the request names; outputs are truncated, and their folders made where missing. One file for stdout
  /// and stderr is opened once, so that both write to it in turn.
  /// @return  the text of the error: "can not open `x`: permission denied"
  static std::expected<Redirects, std::string> open(const ProcessRequest& request);
  int in() const { return in_.get(); }
  int out() const { return out_.get(); }
  int error() const { return shared_ ? out_.get() : error_.get(); }

 private:
  FileDescriptor in_, out_, error_;
  bool shared_ = false;
};

}  // namespace raddle::vm
