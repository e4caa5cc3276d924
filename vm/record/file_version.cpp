#include "vm/record/file_version.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>

namespace raddle::vm {

std::string file_version(KeptFiles& files, const std::string& path) {
  constexpr std::uintmax_t largest_read = std::uintmax_t{64} << 20;
  std::error_code error;
  const std::filesystem::file_type kind = std::filesystem::status(path, error).type();
  if (kind == std::filesystem::file_type::not_found || kind == std::filesystem::file_type::none) return "no file";
  if (kind != std::filesystem::file_type::regular) return fmt::format("no regular file, {}", static_cast<int>(kind));
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (size <= largest_read) return files.name_of(path).value_or("no file");
  return fmt::format("{} {}", size, std::filesystem::last_write_time(path, error).time_since_epoch().count());
}

}  // namespace raddle::vm
