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
#include <vector>

#include "vm/value/file_descriptor.hpp"
#include "vm/value/hash.hpp"

namespace raddle::vm {

namespace {

struct Temporaries {
  std::mutex mutex;  // guards all below
  std::unordered_set<std::string> paths;
  std::unordered_set<std::string> folders;  // made by make_folder_aside
  std::unordered_set<std::string> tidied;   // those in which no killed process has left anything
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

/// @return whether nobody else has it locked; then it is locked until it is closed
bool lock(int fd) {
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  return fcntl(fd, F_OFD_SETLK, &whole) == 0;
}

/// Locks a file that was just made. @return false: it was taken for left behind before that, and removed
bool lock_new(int fd, const std::string& path) {
  if (!lock(fd) && (errno == EAGAIN || errno == EACCES)) return false;
  struct stat made, there;
  return fstat(fd, &made) == 0 && stat(path.c_str(), &there) == 0 && made.st_dev == there.st_dev &&
         made.st_ino == there.st_ino;
}

/// Does what is to be done with a file of this user's if nobody has it locked, and while nobody can lock it.
template <typename Action>
void if_left(const std::string& path, const Action& action) {
  const FileDescriptor file(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status;
  if (file && fstat(file.get(), &status) == 0 && status.st_uid == geteuid() && lock(file.get())) action();
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
    if_left(folder + "/" + owner, [&] {
      for (const std::string& name : names_in(folder, owner.substr(1) + "_")) unlink((folder + "/" + name).c_str());
      unlink((folder + "/" + owner).c_str());
    });
  }
}

/// Makes the file that tells that this process lives. It stays open, and so locked.
std::string make_owner(const std::string& folder) {
  while (true) {
    std::string path = fmt::format("{}/{}XXXXXX", folder, owner_begin);
    FileDescriptor file(mkostemp(path.data(), O_CLOEXEC));
    if (!file) return {};
    if (!lock_new(file.get(), path)) continue;
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
  for (const std::string& path : all.paths) unlink(path.c_str());
  all.paths.clear();
  if (!all.owner.empty()) unlink(all.owner.c_str());
  all.owner.clear();
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

void lock_while_open(int fd) { lock(fd); }

void remove_left_beside(const std::string& path) {
  const std::filesystem::path whole(path);
  const std::string folder = whole.has_parent_path() ? whole.parent_path().string() : ".";
  const std::string begin = whole.filename().string() + ".";
  constexpr std::string_view end = ".tmp", signs = "0123456789abcdef-";
  for (const std::string& name : names_in(folder, begin)) {
    if (!name.ends_with(end) || name.size() <= begin.size() + end.size()) continue;
    const std::string number = name.substr(begin.size(), name.size() - begin.size() - end.size());
    if (number.find_first_not_of(signs) != std::string::npos) continue;
    const std::string left = folder + "/" + name;
    if_left(left, [&] { unlink(left.c_str()); });
  }
}

}  // namespace raddle::vm
