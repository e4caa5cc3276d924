#pragma once
// Files that are written whole or not at all, in large pieces.
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace raddle::sweep {

/// Gathers text and writes it in large pieces.
class Writer {
 public:
  /// @param compresses  writes what gzip would
  explicit Writer(int fd, bool compresses = false);
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  /// Where the next text is to be appended.
  std::string& text() { return waiting_; }
  /// Writes if there is much. @return false if that failed
  bool flush_some() { return waiting_.size() < 1 << 16 || flush(); }
  bool flush();
  /// Writes all that is left; nothing may follow. @return false if any writing failed
  bool finish();
  /// An errno; 0: none.
  int error() const { return error_; }

 private:
  struct Gzip;
  void write_all(std::string_view bytes);
  int fd_, error_ = 0;
  bool is_terminal_;  ///< it does not obey what is written
  std::string waiting_;
  std::unique_ptr<Gzip> gzip_;  ///< null: nothing is compressed
};

using Writing = std::function<void(Writer&)>;

/// What would keep `path` from being written: better told before there is anything to write. "": nothing.
std::string fault_of_output(const std::string& path);

/// Writes it under a temporary name beside the file, and renames that at the end; compressed if `path` ends with `.gz`.
/// A link stays one; what is no regular file, such as a device or a pipe, is written to as it is.
/// @error  "can not write `x.csv`: no space left on device"
std::expected<void, std::string> write_file(const std::string& path, const Writing& writing);

/// The same to standard output.
std::expected<void, std::string> write_to_stdout(const Writing& writing);

}  // namespace raddle::sweep
