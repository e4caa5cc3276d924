#pragma once
// What is in a .zip file, as NumPy's .npz are: stored, or deflated.
// Source: PKWARE, "APPNOTE.TXT, .ZIP file format specification", 6.3.10.
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stdlib/numbers/byte_source.hpp"

namespace raddle::stdlib::native {

struct ZipMember {
  std::string name;
  std::uint16_t method = 0;
  std::uint32_t checksum = 0;
  std::uint64_t stored_bytes = 0, bytes = 0;  ///< as it stands in the file, and as it is read
  std::uint64_t header = 0;                   ///< where it begins
};

/// In their order. @error  what is wrong with the file: "is no .npz file"
std::expected<std::vector<ZipMember>, std::string> zip_members(FileSource& file);
/// Its bytes; the checksum is looked at where they end. @param file  outlives what is returned
std::expected<std::unique_ptr<ByteSource>, std::string> open_zip_member(FileSource& file, const ZipMember& member);

/// Whoever gives the bytes is given where they go: `take` returns false once it wants no more.
using GiveBytes = std::function<void(const std::function<bool(std::string_view bytes)>& take)>;
struct ZipContent {
  std::string name;
  std::uint64_t bytes;
  GiveBytes give;  ///< called twice, with the same bytes
};
/// Writes a whole .zip, of stored members. @return 0, or an errno
int write_zip(int fd, const std::vector<ZipContent>& contents);

}  // namespace raddle::stdlib::native
