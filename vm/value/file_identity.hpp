#pragma once
#include <compare>
#include <cstdint>
#include <optional>
#include <string>

struct stat;

namespace raddle::vm {

/// What changes when a regular file is written to, or another one takes its name; a rename changes nothing.
struct FileIdentity {
  std::uint64_t device = 0, inode = 0;
  std::int64_t size = 0, written_ns = 0;
  auto operator<=>(const FileIdentity&) const = default;
};

FileIdentity identity_of(const struct stat& status);
/// @return none if there is no such regular file
std::optional<FileIdentity> identity_of(const std::string& path);

}  // namespace raddle::vm
