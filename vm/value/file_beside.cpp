#include "vm/value/file_beside.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "vm/value/owner_lock.hpp"

namespace raddle::vm {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view ending = ".tmp";
constexpr std::size_t chance_digits = 16;

std::string name_beside(const std::string& target) {
  std::uint64_t chance = 0;
  if (getentropy(&chance, sizeof chance) != 0) chance = std::random_device()();
  return fmt::format("{}.{}-{:016x}{}", target, getpid(), chance, ending);
}

/// What a file of such a name was to replace. @return "": it has another name
std::string_view target_of(std::string_view name) {
  if (!name.ends_with(ending)) return {};
  name.remove_suffix(ending.size());
  const std::size_t dot = name.rfind('.');
  const std::size_t dash = dot == std::string_view::npos ? dot : name.find('-', dot);
  if (dash == std::string_view::npos || dash == dot + 1 || name.size() - dash - 1 != chance_digits) return {};
  const auto are_all = [](std::string_view text, std::string_view signs) {
    return text.find_first_not_of(signs) == std::string_view::npos;
  };
  const std::string_view pid = name.substr(dot + 1, dash - dot - 1), chance = name.substr(dash + 1);
  return are_all(pid, "0123456789") && are_all(chance, "0123456789abcdef") ? name.substr(0, dot) : std::string_view();
}

/// What other processes had beside their targets when this one first wrote into a folder: each folder is read once.
class OthersFiles {
 public:
  /// Removes those of this target whose owners do not live any more.
  void remove_left(const std::string& target) {
    const fs::path path(target);
    const std::string folder = path.has_parent_path() ? path.parent_path().string() : ".";
    std::error_code code;
    const std::string place = fs::canonical(folder, code).string();
    if (code) return;  // it is not there
    const std::lock_guard lock(mutex_);
    const auto [found, is_new] = folders_.try_emplace(place);
    if (is_new) found->second = read(folder);
    const auto left = found->second.find(path.filename().string());
    if (left == found->second.end()) return;
    std::erase_if(left->second, [&](const std::string& name) {
      const std::string there = folder + "/" + name;
      const FileDescriptor locked = lock_left_file(there);
      return locked && unlink(there.c_str()) == 0;
    });
  }

 private:
  using Names = std::map<std::string, std::vector<std::string>>;  // by target

  static Names read(const std::string& folder) {
    Names names;
    std::error_code code;
    for (fs::directory_iterator file(folder, code), end; !code && file != end; file.increment(code)) {
      std::string name = file->path().filename().string();
      if (const std::string target(target_of(name)); !target.empty()) names[target].push_back(std::move(name));
    }
    return names;
  }

  std::mutex mutex_;
  std::map<std::string, Names> folders_;  // by path: inodes are used again. Guarded by mutex_
};

OthersFiles& others_files() {
  static auto* const only = new OthersFiles;  // never destroyed: files may be written while the process ends
  return *only;
}

}  // namespace

std::expected<FileBeside, int> FileBeside::make(const std::string& target, mode_t mode) {
  others_files().remove_left(target);
  struct stat replaced;
  const bool is_there = stat(target.c_str(), &replaced) == 0;
  constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  for (;;) {
    const std::string name = name_beside(target);
    FileDescriptor file(open(name.c_str(), flags, is_there ? 0600 : mode));
    if (!file) return std::unexpected(errno);
    if (lock_file(file.get()) == OwnerLock::taken || !is_at(file.get(), name)) continue;
    if (is_there) fchmod(file.get(), replaced.st_mode & 0777);
    return FileBeside(name, std::move(file));
  }
}

FileBeside::FileBeside(FileBeside&& other) noexcept
    : name_(std::exchange(other.name_, "")), file_(std::move(other.file_)) {}

FileBeside::~FileBeside() {
  if (!name_.empty()) unlink(name_.c_str());
}

/// It stays locked until it is renamed.
int FileBeside::place(const std::string& path) {
  const FileDescriptor lock(fcntl(file_.get(), F_DUPFD_CLOEXEC, 0));
  if (!lock) return errno;
  if (const int error = file_.close(); error != 0) return error;
  if (rename(name_.c_str(), path.c_str()) != 0) return errno;
  name_.clear();
  return 0;
}

int fault_of_replacing(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) return errno == ENOENT ? 0 : errno;
  constexpr mode_t all_may_write = S_IWUSR | S_IWGRP | S_IWOTH;
  if ((status.st_mode & all_may_write) == 0) return EACCES;  // access() lets root write all files
  return access(path.c_str(), W_OK) == 0 ? 0 : errno;
}

}  // namespace raddle::vm
