#pragma once
// Files that are written whole or not at all, in large pieces.
#include <expected>
#include <functional>
#include <string>

namespace raddle::sweep {

/// Gathers text and writes it in large pieces.
class Writer {
 public:
  explicit Writer(int fd) : fd_(fd) {}
  /// Where the next text is to be appended.
  std::string& text() { return waiting_; }
  /// Writes if there is much. @return false if that failed
  bool flush_some() { return waiting_.size() < 1 << 16 || flush(); }
  bool flush();
  /// An errno; 0: none.
  int error() const { return error_; }

 private:
  int fd_, error_ = 0;
  std::string waiting_;
};

using Writing = std::function<void(Writer&)>;

/// Writes it under a temporary name beside `path`, and renames that at the end.
/// @error  "can not write `x.csv`: no space left on device"
std::expected<void, std::string> write_file(const std::string& path, const Writing& writing);

/// The same to standard output.
std::expected<void, std::string> write_to_stdout(const Writing& writing);

}  // namespace raddle::sweep
