#include "vm/value/file_identity.hpp"

#include <sys/stat.h>

namespace raddle::vm {

FileIdentity identity_of(const struct stat& status) {
  constexpr std::int64_t second_ns = 1'000'000'000;
  return {status.st_dev, status.st_ino, status.st_size, status.st_mtim.tv_sec * second_ns + status.st_mtim.tv_nsec};
}

std::optional<FileIdentity> identity_of(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return identity_of(status);
}

}  // namespace raddle::vm
