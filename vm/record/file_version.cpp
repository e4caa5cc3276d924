#include "vm/record/file_version.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>

namespace raddle::vm {

std::string file_version(KeptFiles& files, const std::string& path) {
  constexpr std::uintmax_t largest_read = std::uintmax_t{64} << 20;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return "no file";
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (size <= largest_read) return files.name_of(path).value_or("no file");
  return fmt::format("{} {}", size, std::filesystem::last_write_time(path, error).time_since_epoch().count());
}

}  // namespace raddle::vm
