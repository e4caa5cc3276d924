#include "vm/value/temporaries.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <random>
#include <string_view>
#include <unordered_set>

#include "vm/value/hash.hpp"

namespace raddle::vm {

namespace {

struct Temporaries {
  std::mutex mutex;
  std::unordered_set<std::string> paths;    // guarded by mutex, as all here
  std::unordered_set<std::string> folders;  // made by make_folder_aside
  std::unordered_set<std::string> tidied;   // those in which no killed process has left anything
};

Temporaries& temporaries() {
  static auto* const only = new Temporaries;  // never destroyed: files may outlive everything else
  return *only;
}

std::string first_line(const char* path) {
  std::string line;
  std::ifstream in(path);
  std::getline(in, line);
  return line;
}

/// Of all folders aside of this system.
const std::string& prefix_of_folders() {
  static const std::string prefix = [] {
    std::error_code ignored;
    const std::string system = first_line("/proc/sys/kernel/random/boot_id") +
                               std::filesystem::read_symlink("/proc/self/ns/pid", ignored).string();
    return fmt::format(".raddle-{:08x}-", hash(system).low & 0xffffffff);
  }();
  return prefix;
}

/// Removes what processes of this system have left there that live no more.
void tidy(const std::filesystem::path& folder) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder.empty() ? "." : folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix_of_folders())) continue;
    const auto pid = static_cast<pid_t>(std::strtol(name.c_str() + prefix_of_folders().size(), nullptr, 10));
    if (pid > 0 && kill(pid, 0) != 0 && errno == ESRCH) std::filesystem::remove_all(entry.path(), ignored);
  }
}

std::uint64_t next_number() {
  static std::atomic<std::uint64_t> count = 0;
  return ++count;
}

bool are_kept() {
  const char* setting = std::getenv("SWIFT_TMP_AUTODELETE");
  return setting && std::string_view(setting) == "0";
}

}  // namespace

std::string temporary_folder() {
  for (const char* name : {"SWIFT_TMP", "TMP"}) {
    const char* folder = std::getenv(name);
    if (folder && *folder) return folder;
  }
  return "/tmp";
}

std::string make_temporary() {
  std::string path = temporary_folder() + "/raddle_XXXXXX";
  Temporaries& all = temporaries();
  const std::lock_guard lock(all.mutex);  // also over the making: remove_temporaries must not miss one
  const int descriptor = mkstemp(path.data());
  if (descriptor < 0) return {};
  close(descriptor);
  all.paths.insert(path);
  return path;
}

void remove_temporary(const std::string& path) {
  Temporaries& all = temporaries();
  const std::lock_guard lock(all.mutex);
  all.paths.erase(path);
  if (!are_kept()) unlink(path.c_str());
}

std::string make_folder_aside(const std::string& folder) {
  const std::filesystem::path path =
      std::filesystem::path(folder) / fmt::format("{}{}-{}", prefix_of_folders(), getpid(), next_number());
  Temporaries& all = temporaries();
  const std::lock_guard lock(all.mutex);  // also over the making, as above
  if (all.tidied.insert(folder).second) tidy(folder);
  if (mkdir(path.c_str(), 0777) != 0) return {};
  all.folders.insert(path);
  return path;
}

void remove_folder_aside(const std::string& path) {
  Temporaries& all = temporaries();
  const std::lock_guard lock(all.mutex);
  all.folders.erase(path);
  std::error_code ignored;
  if (rmdir(path.c_str()) != 0) std::filesystem::remove_all(path, ignored);
}

void remove_temporaries() {
  Temporaries& all = temporaries();
  const std::lock_guard lock(all.mutex);
  std::error_code ignored;
  for (const std::string& path : all.folders) std::filesystem::remove_all(path, ignored);
  all.folders.clear();
  if (are_kept()) return;
  for (const std::string& path : all.paths) unlink(path.c_str());
  all.paths.clear();
}

std::string name_beside(const std::string& path) {
  std::uint64_t chance = 0;
  if (getentropy(&chance, sizeof chance) != 0) chance = std::random_device()();
  return fmt::format("{}.{}-{:016x}.tmp", path, getpid(), chance);
}

FileBeside make_beside(const std::string& path, unsigned mode) {
  FileBeside made{.name = name_beside(path), .file = FileDescriptor()};
  constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  made.file = FileDescriptor(open(made.name.c_str(), flags, mode));
  return made;
}

int fault_of_replacing(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) return errno == ENOENT ? 0 : errno;
  constexpr mode_t all_may_write = S_IWUSR | S_IWGRP | S_IWOTH;
  if ((status.st_mode & all_may_write) == 0) return EACCES;  // access() lets root write all files
  return access(path.c_str(), W_OK) == 0 ? 0 : errno;
}

}  // namespace raddle::vm
