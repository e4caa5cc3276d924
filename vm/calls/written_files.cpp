#include "vm/calls/written_files.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

#include "vm/value/file_place.hpp"
#include "vm/value/hash.hpp"
#include "vm/value/whole_file.hpp"

namespace raddle::vm {

namespace {

namespace fs = std::filesystem;

/// @return "" if any number of calls may write to it
std::string place_of(const WrittenFiles::Output& output) {
  if (!output.replaces_link) return file_place(output.path);
  if (is_stream(output.path)) return {};
  std::error_code failed;
  return entry_of(fs::absolute(output.path, failed)).string();
}

/// What `earlier` has written is there when `later` is to be.
bool is_in_order(const auto& earlier, const WrittenFiles::Output& later) {
  if (earlier.activation == later.activation) return later.replaces;
  return later.series != 0 && earlier.series == later.series;
}

}  // namespace

std::optional<std::uint64_t> PointFiles::claim(const std::string& place, std::uint64_t point) {
  const std::uint64_t key = hash(place).low;
  const std::lock_guard lock(mutex_);
  if (const auto known = points_.find(key); known != points_.end())
    return known->second == point ? std::nullopt : std::optional(known->second);
  if (points_.size() < limit) points_.emplace(key, point);
  return std::nullopt;
}

bool PointFiles::is_written(const std::string& path) {
  const std::uint64_t key = hash(place_of(path)).low;
  const std::lock_guard lock(mutex_);
  return points_.contains(key);
}

std::optional<std::uint64_t> WrittenFiles::other_point(const std::string& place) const {
  return point_files_ == nullptr || place.empty() ? std::nullopt : point_files_->claim(place, point_);
}

std::uint64_t WrittenFiles::add_run() {
  const std::lock_guard lock(mutex_);
  return ++run_count_;
}

std::expected<std::vector<std::string>, WrittenFiles::Conflict> WrittenFiles::begin(std::uint64_t run,
                                                                                    const std::vector<Output>& outputs,
                                                                                    const CallPlace& call, How how) {
  std::vector<std::string> places;
  for (const Output& output : outputs) places.push_back(place_of(output));
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto known = entries_.find(places[i]);
    const bool replaces_it = known != entries_.end() && is_in_order(known->second, outputs[i]);
    const bool is_written =
        known != entries_.end() && (known->second.run > run || (known->second.run == run && !replaces_it));
    if (is_written || (known != entries_.end() && known->second.is_partial))
      return std::unexpected(Conflict{{outputs[i].path, call}, known->second.writer, {}});
    if (const std::optional<std::uint64_t> point = other_point(places[i]))
      return std::unexpected(Conflict{{outputs[i].path, call}, {}, point});
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!places[i].empty())
      entries_.insert_or_assign(
          places[i],
          Entry{{outputs[i].path, call}, run, outputs[i].activation, outputs[i].series, how == How::by_program});
  }
  return places;
}

void WrittenFiles::write_aside(const std::vector<std::string>& begun, const std::string& path) {
  const std::lock_guard lock(mutex_);
  for (const std::string& place : begun) {
    const auto known = entries_.find(place);
    if (known != entries_.end() && known->second.writer.path == path) known->second.is_aside = true;
  }
}

void WrittenFiles::end(const std::vector<std::string>& begun) {
  const std::lock_guard lock(mutex_);
  for (const std::string& place : begun)
    if (const auto known = entries_.find(place); known != entries_.end()) known->second.is_partial = false;
}

void WrittenFiles::give_up(const std::vector<std::string>& begun) {
  const std::lock_guard lock(mutex_);
  for (const std::string& place : begun) entries_.erase(place);
}

bool WrittenFiles::is_written(const std::string& path) {
  const std::string place = place_of(path);
  const std::lock_guard lock(mutex_);
  return entries_.contains(place);
}

void WrittenFiles::remove_partial() {
  const std::lock_guard lock(mutex_);
  for (auto& [place, entry] : entries_) {
    if (std::exchange(entry.is_partial, false) && !entry.is_aside) remove_files({entry.writer.path});
  }
}

fs::path entry_of(const fs::path& path) {
  std::error_code failed;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  return fs::weakly_canonical(folder, failed) / path.filename();
}

void make_folder_of(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code ignored;  // whoever writes the file says what could not be opened
  if (!folder.empty()) std::filesystem::create_directories(folder, ignored);
}

void remove_files(const std::vector<std::string>& paths) {
  std::error_code ignored;  // most often it was never made
  for (const std::string& path : paths) {
    // a device or pipe was there before: it is not ours to remove
    if (fs::is_regular_file(fs::symlink_status(path, ignored))) fs::remove(path, ignored);
  }
}

}  // namespace raddle::vm
