#include "vm/interpret/partial_outputs.hpp"

#include <filesystem>
#include <system_error>

namespace raddle::vm {

void PartialOutputs::begin(const std::vector<std::string>& paths) {
  const std::lock_guard lock(mutex_);
  paths_.insert(paths.begin(), paths.end());
}

void PartialOutputs::end(const std::vector<std::string>& paths) {
  const std::lock_guard lock(mutex_);
  for (const std::string& path : paths) {
    if (const auto found = paths_.find(path); found != paths_.end()) paths_.erase(found);
  }
}

void PartialOutputs::remove_all() {
  const std::lock_guard lock(mutex_);
  remove_files({paths_.begin(), paths_.end()});
  paths_.clear();
}

void remove_files(const std::vector<std::string>& paths) {
  std::error_code ignored;  // most often it was never made
  for (const std::string& path : paths) {
    // a device or pipe was there before: it is not ours to remove
    if (std::filesystem::is_regular_file(std::filesystem::symlink_status(path, ignored)))
      std::filesystem::remove(path, ignored);
  }
}

}  // namespace raddle::vm
