#pragma once
// Contents of files that results of calls consist of, each once, named by what is in it: `.raddle/memo/SIZE-HASH`.
// Content that is not what its name says is as good as none.
#include <cstdint>
#include <expected>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "vm/value/file_identity.hpp"
#include "vm/value/hash.hpp"

namespace raddle::vm {

inline constexpr const char* kept_files_folder = ".raddle/memo";

/// Any thread.
class KeptFiles {
 public:
  /// What names the content of a regular file. A file that was not changed since is read once.
  /// @error  why it can not be read
  std::expected<std::string, std::string> name_of(const std::string& path);
  /// Keeps the content of a regular file. @return its name
  /// @param written  what it is to be; none: what it is now   @error  why it can not, or that it is another one by now
  std::expected<std::string, std::string> keep(const std::string& path, const std::optional<FileIdentity>& written);
  /// Gives `path` this content; it is complete or as it was. Leaves a file alone that has it already.
  /// @return false if the content is not there, or can not be written
  bool restore(const std::string& name, const std::string& path);

 private:
  std::mutex mutex_;  // guards names_
  std::map<FileState, std::string> names_;
};

}  // namespace raddle::vm
