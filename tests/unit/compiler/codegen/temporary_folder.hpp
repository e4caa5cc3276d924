#pragma once
#include <stdlib.h>

#include <filesystem>
#include <string>

namespace raddle::codegen {

/// A new folder, gone at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() { path_ = mkdtemp(path_.data()); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_ = std::filesystem::temp_directory_path() / "raddle-test-XXXXXX";
};

}  // namespace raddle::codegen
