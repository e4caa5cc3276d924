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
#include <map>
#include <mutex>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "vm/value/file_descriptor.hpp"
#include "vm/value/hash.hpp"
#include "vm/value/owner_lock.hpp"

namespace raddle::vm {

namespace {

// Note [folders aside]
//
// Folders aside lie in one hidden folder for all that are beside the same files, `.raddle-PID-NUMBER`. It is locked as
// long as there are any, so that who finds it without a lock may remove it. Where folders can not be locked, as on NFS,
// and beyond so many places that too many files would be open, it is `.raddle-SYSTEM-PID-NUMBER`, and the process id
// tells. SYSTEM says where ids mean the same: it is made of the machine's start and of the namespace, so that what a
// process has left there stays when the machine was started anew.

struct FoldersAside {
  std::string base;
  FileDescriptor lock;  // of the base; none: the process id tells
  std::size_t count = 0;
};

struct Temporaries {
  std::mutex mutex;  // guards all below
  std::unordered_set<std::string> paths;
  std::map<std::string, FoldersAside> asides;  // by the folder beside whose files they are
  std::unordered_set<std::string> tidied;      // those in which no killed process has left anything
  std::string owner;  // the path of the file whose lock tells that this process lives; "": there is none
  std::uint64_t count = 0;
};

/// Such a file is `.raddle_XXXXXX`, and the temporaries of its process are `raddle_XXXXXX_1`, ..
constexpr std::string_view owner_begin = ".raddle_";

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

constexpr std::string_view begin_of_aside = ".raddle-";

/// Of folders aside that are not locked.
const std::string& begin_of_system() {
  static const std::string begin = [] {
    std::error_code ignored;
    const std::string system = first_line("/proc/sys/kernel/random/boot_id") +
                               std::filesystem::read_symlink("/proc/self/ns/pid", ignored).string();
    return fmt::format("{}{:08x}-", begin_of_aside, hash(system).low & 0xffffffff);
  }();
  return begin;
}

std::uint64_t next_number() {
  static std::atomic<std::uint64_t> count = 0;
  return ++count;
}

std::vector<std::string> names_in(const std::string& folder, std::string_view begin) {
  std::vector<std::string> names;
  std::error_code code;
  for (std::filesystem::directory_iterator file(folder, code), end; !code && file != end; file.increment(code))
    if (std::string name = file->path().filename().string(); name.starts_with(begin)) names.push_back(std::move(name));
  return names;
}

/// Of processes that were killed.
void remove_left_in(const std::string& folder) {
  for (const std::string& owner : names_in(folder, owner_begin)) {
    const FileDescriptor left = lock_left_file(folder + "/" + owner);
    if (!left) continue;
    for (const std::string& name : names_in(folder, owner.substr(1) + "_")) unlink((folder + "/" + name).c_str());
    unlink((folder + "/" + owner).c_str());
  }
}

/// Makes the file that tells that this process lives. It stays open, and so locked.
std::string make_owner(const std::string& folder) {
  while (true) {
    std::string path = fmt::format("{}/{}XXXXXX", folder, owner_begin);
    FileDescriptor file(mkostemp(path.data(), O_CLOEXEC));
    if (!file) return {};
    if (lock_file(file.get()) == OwnerLock::taken || !is_at(file.get(), path)) continue;
    file.release();
    return path;
  }
}

/// @pre its mutex is held. @return its path, "" if it could not be made
std::string make_removable(Temporaries& all) {
  const std::string folder = temporary_folder();
  if (all.owner.empty()) {
    remove_left_in(folder);
    all.owner = make_owner(folder);
    if (all.owner.empty()) return {};
  }
  const std::size_t name = all.owner.rfind('/') + 1;
  while (true) {
    std::string path = fmt::format("{}{}_{}", all.owner.substr(0, name), all.owner.substr(name + 1), ++all.count);
    const FileDescriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (file) return path;
    if (errno != EEXIST) return {};
  }
}

/// Whether folders of that name are locked as long as their owners live: two numbers.
bool tells_by_lock(std::string_view name) {
  const std::size_t dash = name.find('-', begin_of_aside.size());
  return dash != std::string_view::npos &&
         name.find_first_not_of("0123456789-", begin_of_aside.size()) == std::string_view::npos &&
         name.find('-', dash + 1) == std::string_view::npos;
}

/// Removes what processes have left there that live no more.
void tidy(const std::filesystem::path& folder) {
  std::error_code ignored;
  for (const std::string& name : names_in(folder.empty() ? "." : folder.string(), begin_of_aside)) {
    const std::filesystem::path path = folder / name;
    if (tells_by_lock(name)) {
      if (const FileDescriptor left = lock_left_folder(path)) std::filesystem::remove_all(path, ignored);
    } else if (name.starts_with(begin_of_system())) {
      const auto pid = static_cast<pid_t>(std::strtol(name.c_str() + begin_of_system().size(), nullptr, 10));
      if (pid > 0 && kill(pid, 0) != 0 && errno == ESRCH) std::filesystem::remove_all(path, ignored);
    }
  }
}

constexpr std::size_t most_locked = 128;

/// Its path stays "" if it could not be made.
void make_base(FoldersAside& aside, const std::filesystem::path& folder, bool is_locked) {
  while (true) {
    const std::string_view begin = is_locked ? begin_of_aside : begin_of_system();
    const std::string path = folder / fmt::format("{}{}-{}", begin, getpid(), next_number());
    if (mkdir(path.c_str(), 0777) != 0) {
      if (errno == EEXIST) continue;  // of an earlier process of that id
      return;
    }
    if (is_locked) {
      aside.lock = FileDescriptor(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
      const OwnerLock outcome = aside.lock ? lock_folder(aside.lock.get()) : OwnerLock::not_there;
      if (outcome == OwnerLock::taken || (aside.lock && !is_at(aside.lock.get(), path))) continue;
      if (outcome == OwnerLock::not_there) {
        aside.lock = FileDescriptor();
        is_locked = false;
        rmdir(path.c_str());
        continue;
      }
    }
    aside.base = path;
    return;
  }
}

void remove_base(Temporaries& all, std::map<std::string, FoldersAside>::iterator aside) {
  if (!aside->second.base.empty()) rmdir(aside->second.base.c_str());
  all.asides.erase(aside);
}

bool are_kept() {
  const char* setting = std::getenv("SWIFT_TMP_AUTODELETE");
  return setting && std::string_view(setting) == "0";
}

}  // namespace

std::string temporary_folder() {
  for (const char* name : {"SWIFT_TMP", "TMP", "TMPDIR"}) {
    const char* folder = std::getenv(name);
    if (folder && *folder) return folder;
  }
  return "/tmp";
}

std::string make_temporary() {
  Temporaries& all = temporaries();
  const std::lock_guard lock(all.mutex);  // also over the making: remove_temporaries must not miss one
  if (!are_kept()) {
    std::string path = make_removable(all);
    if (!path.empty()) all.paths.insert(path);
    return path;
  }
  std::string path = temporary_folder() + "/raddle_XXXXXX";
  const FileDescriptor file(mkostemp(path.data(), O_CLOEXEC));
  return file ? path : "";
}

void remove_temporary(const std::string& path) {
  Temporaries& all = temporaries();
  const std::lock_guard lock(all.mutex);
  all.paths.erase(path);
  if (!are_kept()) unlink(path.c_str());
}

std::string make_folder_aside(const std::string& folder) {
  Temporaries& all = temporaries();
  const std::lock_guard lock(all.mutex);  // also over the making, as above
  if (all.tidied.insert(folder).second) tidy(folder);
  const auto [found, is_new] = all.asides.try_emplace(folder);
  FoldersAside& aside = found->second;
  if (is_new) make_base(aside, folder, /*is_locked=*/all.asides.size() <= most_locked);
  const std::string path = fmt::format("{}/{}", aside.base, next_number());
  if (!aside.base.empty() && mkdir(path.c_str(), 0777) == 0) {
    ++aside.count;
    return path;
  }
  if (aside.count == 0) remove_base(all, found);
  return {};
}

void remove_folder_aside(const std::string& path) {
  std::error_code ignored;
  if (rmdir(path.c_str()) != 0) std::filesystem::remove_all(path, ignored);
  Temporaries& all = temporaries();
  const std::lock_guard lock(all.mutex);
  const std::filesystem::path base = std::filesystem::path(path).parent_path();
  const auto found = all.asides.find(base.parent_path().string());
  if (found != all.asides.end() && found->second.base == base && --found->second.count == 0) remove_base(all, found);
}

void remove_temporaries() {
  Temporaries& all = temporaries();
  const std::lock_guard lock(all.mutex);
  std::error_code ignored;
  for (const auto& [folder, aside] : all.asides) std::filesystem::remove_all(aside.base, ignored);
  all.asides.clear();
  for (const std::string& path : all.paths) unlink(path.c_str());
  all.paths.clear();
  if (!all.owner.empty()) unlink(all.owner.c_str());
  all.owner.clear();
}

}  // namespace raddle::vm
