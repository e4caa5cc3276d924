#include "vm/calls/own_outputs.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "vm/value/file_descriptor.hpp"
#include "vm/value/temporaries.hpp"
#include "vm/value/whole_file.hpp"

namespace raddle::vm {
namespace {

namespace fs = std::filesystem;

/// The regular file that is there or is to be made, through links. @return "": it is to be written where it is
fs::path target_of(const std::string& path) {
  if (is_stream(path)) return {};
  const std::expected<fs::path, int> target = target_of_links(fs::path(path).lexically_normal());
  if (!target) return {};
  const fs::path name = target->filename();
  if (name.empty() || name == "." || name == "..") return {};
  struct stat status;
  const bool is_there = lstat(target->c_str(), &status) == 0;
  if (is_there && (!S_ISREG(status.st_mode) || access(target->c_str(), W_OK) != 0)) return {};
  return *target;
}

/// One that is replaced keeps its permissions, as if it had been written to, unless the program has set those of the
/// new one: the folder shows what new ones get.
void keep_permissions(const fs::path& from, const fs::path& to) {
  struct stat made, replaced, folder;
  if (lstat(from.c_str(), &made) != 0 || lstat(to.c_str(), &replaced) != 0 ||
      lstat(from.parent_path().c_str(), &folder) != 0 || !S_ISREG(made.st_mode) || !S_ISREG(replaced.st_mode))
    return;
  if ((made.st_mode & 0777) == (folder.st_mode & 0666)) chmod(from.c_str(), replaced.st_mode & 0777);
}

/// Folders of one name become one.
void move(const fs::path& from, const fs::path& to, std::error_code& error) {
  if (fs::is_directory(fs::symlink_status(from)) && fs::is_directory(fs::symlink_status(to))) {
    for (const fs::directory_entry& entry : fs::directory_iterator(from, error))
      if (!error) move(entry.path(), to / entry.path().filename(), error);
  } else {
    keep_permissions(from, to);
    fs::rename(from, to, error);
  }
}

}  // namespace

OwnOutputs::~OwnOutputs() { remove(); }

void OwnOutputs::remove() {
  for (const Folder& folder : folders_) remove_folder_aside(folder.aside);
  folders_.clear();
}

bool OwnOutputs::add(const std::string& path) {
  if (outputs_.contains(path)) return true;
  const fs::path target = target_of(path);
  if (target.empty()) return false;
  const std::string place = target.parent_path().string();
  auto folder = std::ranges::find(folders_, place, &Folder::place);
  if (folder == folders_.end()) {
    std::string aside = make_folder_aside(place);
    if (aside.empty()) return false;
    folder = folders_.insert(folders_.end(), {place, std::move(aside)});
  }
  outputs_[path] = {(fs::path(folder->aside) / target.filename()).string(), std::nullopt};
  return true;
}

const std::string& OwnOutputs::now(const std::string& path) const {
  const auto found = outputs_.find(path);
  return found == outputs_.end() || is_placed_ ? path : found->second.aside;
}

void OwnOutputs::clear() {
  std::error_code ignored;
  for (const Folder& folder : folders_)
    for (const fs::directory_entry& entry : fs::directory_iterator(folder.aside, ignored))
      fs::remove_all(entry.path(), ignored);
}

std::string OwnOutputs::place() {
  for (auto& [path, output] : outputs_) output.identity = identity_of(output.aside);
  for (const Folder& folder : folders_) {
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder.aside, error)) {
      const fs::path place = fs::path(folder.place) / entry.path().filename();
      move(entry.path(), place, error);
      if (error) return fmt::format("`{}` can not be put in its place: {}", place.string(), error_text(error.value()));
    }
    remove_folder_aside(folder.aside);
  }
  folders_.clear();
  is_placed_ = true;
  return {};
}

std::optional<FileIdentity> OwnOutputs::identity(const std::string& path) const {
  const auto found = outputs_.find(path);
  return found != outputs_.end() && found->second.identity ? found->second.identity : identity_of(path);
}

}  // namespace raddle::vm
