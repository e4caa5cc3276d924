#pragma once
// Bytes that are read one after the other.
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "vm/value/file_descriptor.hpp"

namespace raddle::stdlib::native {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// @return how many: fewer than there is room for only where they end   @error  what is wrong with the file: "can not
  /// be read: .."
  virtual std::expected<std::size_t, std::string> read(std::span<std::byte> bytes) = 0;
};

/// Those of a file.
class FileSource final : public ByteSource {
 public:
  static std::expected<FileSource, std::string> open(const std::string& path);
  std::expected<std::size_t, std::string> read(std::span<std::byte> bytes) override;
  int descriptor() const { return file_.get(); }
  /// Of a regular file; none: that is not known before all are read.
  std::optional<std::size_t> size() const;
  /// Where the next ones are. @pre it is a regular file
  std::expected<void, std::string> go_to(std::uint64_t place);

 private:
  explicit FileSource(vm::FileDescriptor file) : file_(std::move(file)) {}
  static std::unexpected<std::string> failure(int error);

  vm::FileDescriptor file_;
};

}  // namespace raddle::stdlib::native
