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

/// What changes with all that is done to a regular file, a rename included, even if its content, or the time that it
/// shows, is put back.
struct FileState {
  FileIdentity identity;
  std::int64_t changed_ns = 0;
  auto operator<=>(const FileState&) const = default;
};

FileState state_of(const struct stat& status);
/// @return none if there is no such regular file
std::optional<FileState> state_of(const std::string& path);
/// The same, such that what is done to it from now on changes it: waits while the clock of files, which goes on some
/// milliseconds at a time, has not gone on since the last change.
std::optional<FileState> settled_state_of(const std::string& path);

}  // namespace raddle::vm
