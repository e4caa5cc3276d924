#include "vm/interpret/partial_outputs.hpp"

#include <filesystem>
#include <system_error>

namespace raddle::vm {

namespace {

namespace fs = std::filesystem;

/// Names of what the process has open, even if that is a regular file.
bool is_stream(const std::string& path) {
  return path == "/dev/stdout" || path == "/dev/stderr" || path.starts_with("/dev/fd/") || path.starts_with("/proc/");
}

/// The same text for all names of a file that is there or is to be made.
/// @return "" if any number of programs may write to it
std::string place_of(const std::string& path) {
  std::error_code failed;
  const fs::path absolute = fs::absolute(path, failed);
  const std::string plain = absolute.lexically_normal();
  if (is_stream(plain)) return {};
  const fs::file_status status = fs::status(absolute, failed);
  if (fs::exists(status) && !fs::is_regular_file(status)) return {};
  const fs::path whole = fs::weakly_canonical(absolute, failed);  // through links, of folders too
  return failed ? plain : whole.string();
}

}  // namespace

std::expected<std::vector<std::string>, PartialOutputs::Conflict> PartialOutputs::begin(
    const std::vector<std::string>& paths, CallPlace call) {
  std::vector<std::string> places;
  for (const std::string& path : paths) places.push_back(place_of(path));
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (const auto known = outputs_.find(places[i]); known != outputs_.end()) {
      return std::unexpected(Conflict{{paths[i], std::move(call)}, known->second});
    }
  }
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (!places[i].empty()) outputs_.try_emplace(places[i], Output{paths[i], call});
  }
  return places;
}

void PartialOutputs::end(const std::vector<std::string>& begun) {
  const std::lock_guard lock(mutex_);
  for (const std::string& place : begun) outputs_.erase(place);
}

void PartialOutputs::remove_all() {
  const std::lock_guard lock(mutex_);
  for (const auto& [place, output] : outputs_) remove_files({output.path});
  outputs_.clear();
}

void remove_files(const std::vector<std::string>& paths) {
  std::error_code ignored;  // most often it was never made
  for (const std::string& path : paths) {
    // a device or pipe was there before: it is not ours to remove
    if (fs::is_regular_file(fs::symlink_status(path, ignored))) fs::remove(path, ignored);
  }
}

}  // namespace raddle::vm
