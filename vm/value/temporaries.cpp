#include "vm/value/temporaries.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <random>
#include <string_view>
#include <unordered_set>

namespace raddle::vm {

namespace {

struct Temporaries {
  std::mutex mutex;
  std::unordered_set<std::string> paths;  // guarded by mutex
};

Temporaries& temporaries() {
  static auto* const only = new Temporaries;  // never destroyed: files may outlive everything else
  return *only;
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

void remove_temporaries() {
  Temporaries& all = temporaries();
  const std::lock_guard lock(all.mutex);
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
