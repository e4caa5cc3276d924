#include "vm/value/temporaries.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <mutex>
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
  static std::atomic<std::uint64_t> count = 0;
  return fmt::format("{}.{}-{}.tmp", path, getpid(), ++count);
}

}  // namespace raddle::vm
