#include "vm/value/file_place.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>
#include <system_error>

#include "vm/value/whole_file.hpp"

namespace raddle::vm {

std::string file_place(const std::string& path) {
  namespace fs = std::filesystem;
  if (is_stream(path)) return {};
  struct stat status {};
  const bool exists = stat(path.c_str(), &status) == 0;
  if (exists && !S_ISREG(status.st_mode)) return {};
  // a file that has several names
  if (exists && status.st_nlink > 1) return fmt::format("{}:{}", status.st_dev, status.st_ino);
  std::error_code failed;
  const fs::path absolute = fs::absolute(path, failed);
  fs::path last = absolute;
  follow_links(absolute, [&last](const fs::path& name) {
    last = name;
    return true;
  });
  const fs::path whole = fs::weakly_canonical(last, failed);  // through links of folders, too
  return failed ? absolute.lexically_normal().string() : whole.string();
}

}  // namespace raddle::vm
