#include "compiler/codegen/leaf_cache.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <functional>
#include <vector>

#include "vm/value/environment.hpp"

namespace raddle::codegen {
namespace {

// A file: these words, the hash of what follows, the size of the key, the key, the content.
constexpr std::string_view file_words = "raddle leaf 1\n";
constexpr off_t most_file_bytes = 16 << 20;

constexpr std::string_view leaf_ending = ".leaf", temporary_ending = ".tmp";
constexpr std::time_t hour_s = 3600;
constexpr std::size_t stores_between_looks = 16;  // to look at all files takes a microsecond or two for each

std::size_t hash(std::string_view text) { return std::hash<std::string_view>()(text); }

std::string number_bytes(std::uint64_t number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

/// Keys that share a name by chance push each other out.
std::string file_name(const std::string& key) { return fmt::format("{:016x}{}", hash(key), leaf_ending); }

std::string file_bytes(const std::string& key, std::string_view content) {
  const std::string rest = number_bytes(key.size()) + key + std::string(content);
  return std::string(file_words) + number_bytes(hash(rest)) + rest;
}

/// The user's own, and nobody else may write it.
bool is_trusted(int descriptor, mode_t kind) {
  struct stat about;
  return fstat(descriptor, &about) == 0 && (about.st_mode & S_IFMT) == kind && about.st_uid == geteuid() &&
         (about.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

void make_folders(const std::string& path) {
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    mkdir(path.substr(0, end).c_str(), S_IRWXU);
    if (end == std::string::npos) return;
  }
}

int open_folder(const std::string& path) {
  if (path.empty()) return -1;
  constexpr int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  int opened = open(path.c_str(), flags);
  if (opened < 0) {
    make_folders(path);
    opened = open(path.c_str(), flags);
  }
  if (opened < 0 || is_trusted(opened, S_IFDIR)) return opened;
  close(opened);
  return -1;
}

bool read_all(int file, std::string& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t count = read(file, bytes.data() + done, bytes.size() - done);
    if (count <= 0) return false;
    done += static_cast<std::size_t>(count);
  }
  return true;
}

/// So that remove_oldest() knows; once an hour is enough.
void note_use(int file, const struct stat& about) {
  if (about.st_mtime + hour_s < std::time(nullptr)) futimens(file, nullptr);
}

bool is_temporary(std::string_view name) { return name.ends_with(temporary_ending); }

constexpr std::uint64_t block_bytes = 512;  // of stat

struct Stored {
  std::string name;
  std::time_t used;
  std::uint64_t size_bytes;
};

/// The cache's own files.
std::vector<Stored> list(int folder) {
  std::vector<Stored> found;
  const int opened = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const stream = opened < 0 ? nullptr : fdopendir(opened);
  if (stream == nullptr) return found;
  while (const dirent* entry = readdir(stream)) {
    const std::string name = entry->d_name;
    struct stat about;
    if (!name.ends_with(leaf_ending) && !is_temporary(name)) continue;
    if (fstatat(folder, name.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(about.st_mode)) continue;
    found.push_back({name, about.st_mtime, static_cast<std::uint64_t>(about.st_blocks) * block_bytes});
  }
  closedir(stream);
  return found;
}

/// A folder of ours, by its name.
std::string cache_folder(std::string_view name) {
  std::string folder = vm::environment_path("XDG_CACHE_HOME");
  if (folder.empty()) {
    folder = vm::environment_path("HOME");
    if (folder.empty()) return "";
    folder += "/.cache";
  }
  return fmt::format("{}/raddle/{}", folder, name);
}

}  // namespace

std::string default_cache_folder() { return cache_folder("jit"); }

std::string usable_cubin_folder() {
  std::string folder = cache_folder("cubins");
  return LeafCache(folder).is_usable() ? folder : "";
}

LeafCache::LeafCache(const std::string& folder, std::uint64_t most_bytes)
    : most_bytes_(most_bytes), folder_(open_folder(folder)) {}

std::optional<std::string> LeafCache::find(const std::string& key) {
  if (!folder_) return std::nullopt;
  // O_NONBLOCK: a pipe of that name does not stop us
  constexpr int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  const vm::FileDescriptor file(openat(folder_.get(), file_name(key).c_str(), flags));
  struct stat about;
  if (!file || !is_trusted(file.get(), S_IFREG) || fstat(file.get(), &about) != 0) return std::nullopt;
  std::string bytes(static_cast<std::size_t>(std::min(about.st_size, most_file_bytes)), '\0');
  const std::size_t content_begin = file_bytes(key, "").size();
  if (bytes.size() < content_begin || !read_all(file.get(), bytes)) return std::nullopt;
  std::string content = bytes.substr(content_begin);
  if (file_bytes(key, content) != bytes) return std::nullopt;
  note_use(file.get(), about);
  return content;
}

void LeafCache::store(const std::string& key, std::string_view content) {
  if (!folder_) return;
  const std::string name = file_name(key);
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  const std::string temporary = fmt::format("{}.{}.{}{}", name, getpid(), now, temporary_ending);
  bool is_written = false;
  {
    constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    const vm::FileDescriptor file(openat(folder_.get(), temporary.c_str(), flags, S_IRUSR | S_IWUSR));
    if (!file) return;
    is_written = vm::write_all(file.get(), file_bytes(key, content)) == 0;
  }
  if (!is_written || renameat(folder_.get(), temporary.c_str(), folder_.get(), name.c_str()) != 0)
    unlinkat(folder_.get(), temporary.c_str(), 0);
  if (hash(key) % stores_between_looks == 0) remove_oldest();  // by key: also runs that store only a few take part
}

/// Down to three quarters, so that the next store does not find the folder full again. Of temporary files those go that
/// a run has left behind which did not come to its end.
void LeafCache::remove_oldest() {
  std::vector<Stored> files = list(folder_.get());
  std::ranges::sort(files, {}, &Stored::used);
  std::uint64_t total_bytes = 0;
  for (const Stored& file : files) total_bytes += file.size_bytes;
  const std::uint64_t kept_bytes = total_bytes > most_bytes_ ? most_bytes_ / 4 * 3 : most_bytes_;
  const std::time_t now = std::time(nullptr);
  for (const Stored& file : files) {
    const bool is_left_behind = is_temporary(file.name) && file.used + hour_s < now;
    if (!is_left_behind && (total_bytes <= kept_bytes || is_temporary(file.name))) continue;
    if (unlinkat(folder_.get(), file.name.c_str(), 0) == 0) total_bytes -= file.size_bytes;
  }
}

}  // namespace raddle::codegen
