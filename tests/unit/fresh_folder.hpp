#pragma once
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

/// A folder of its own to work in, gone at the end.
class FreshFolder {
 public:
  FreshFolder() {
    std::string name = "/tmp/raddle-unit-XXXXXX";
    path_ = mkdtemp(name.data());
    std::filesystem::current_path(path_);
  }
  FreshFolder(const FreshFolder&) = delete;
  FreshFolder& operator=(const FreshFolder&) = delete;
  ~FreshFolder() {
    std::filesystem::current_path(before_);
    std::filesystem::remove_all(path_);
  }

 private:
  std::filesystem::path before_ = std::filesystem::current_path(), path_;
};
