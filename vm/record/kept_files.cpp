#include "vm/record/kept_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <vector>

#include "vm/value/file_beside.hpp"
#include "vm/value/file_descriptor.hpp"
#include "vm/value/whole_file.hpp"

namespace raddle::vm {
namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 20;

/// As programs make files, whatever the permissions of the one that was kept, which may have been a temporary; a
/// program stays one.
mode_t content_mode(const struct stat& about) {
  constexpr mode_t file = 0666, program = 0111;
  return file | (about.st_mode & program);
}

std::string content_path(const std::string& name) { return fmt::format("{}/{}", kept_files_folder, name); }

/// Reads all of `from`, into `to` as well unless that is -1. @return the name of the content
std::expected<std::string, std::string> read_through(int from, int to) {
  std::vector<char> piece(piece_bytes);
  std::string hashes;
  std::uint64_t size = 0;
  std::size_t filled = 0;
  for (bool at_end = false; !at_end;) {
    const ssize_t count = read(from, piece.data() + filled, piece.size() - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::unexpected(error_text(errno));
    at_end = count == 0;
    filled += static_cast<std::size_t>(count);
    if (filled < piece.size() && !at_end) continue;  // pieces are whole, so that how they come plays no part
    if (to >= 0)
      if (const int error = write_all(to, {piece.data(), filled}); error != 0)
        return std::unexpected(error_text(error));
    const Hash128 hash = vm::hash({piece.data(), filled});
    hashes.append(reinterpret_cast<const char*>(&hash), sizeof hash);
    size += filled;
    filled = 0;
  }
  const Hash128 hash = vm::hash(hashes);
  return fmt::format("{}-{:016x}{:016x}", size, hash.high, hash.low);
}

std::expected<std::string, std::string> open_and_name(const std::string& path) {
  struct stat about;
  if (stat(path.c_str(), &about) != 0) return std::unexpected(error_text(errno));
  if (!S_ISREG(about.st_mode)) return std::unexpected("it is no regular file");
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return std::unexpected(error_text(errno));
  return read_through(file.get(), -1);
}

/// None of a file that was changed just now: it may change again within the resolution of its time.
std::optional<FileState> settled_state(const std::string& path) {
  struct stat about;
  constexpr std::int64_t settled_s = 2;
  if (stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return std::nullopt;
  if (time(nullptr) - about.st_ctim.tv_sec < settled_s) return std::nullopt;
  return state_of(about);
}

}  // namespace

std::expected<std::string, std::string> KeptFiles::name_of(const std::string& path) {
  const std::optional<FileState> version = settled_state(path);
  if (version) {
    const std::lock_guard lock(mutex_);
    if (const auto known = names_.find(*version); known != names_.end()) return known->second;
  }
  std::expected<std::string, std::string> name = open_and_name(path);
  if (name && version) {
    const std::lock_guard lock(mutex_);
    names_.emplace(*version, *name);
  }
  return name;
}

std::expected<std::string, std::string> KeptFiles::keep(const std::string& path,
                                                        const std::optional<FileIdentity>& written) {
  const FileDescriptor from(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat about;
  if (!from || fstat(from.get(), &about) != 0) return std::unexpected(error_text(errno));
  if (!S_ISREG(about.st_mode)) return std::unexpected("it is no regular file");
  const FileIdentity before = identity_of(about);
  std::error_code code;
  std::filesystem::create_directories(kept_files_folder, code);
  std::expected<FileBeside, int> beside = FileBeside::make(content_path("new"), content_mode(about));
  if (!beside) return std::unexpected(error_text(beside.error()));
  const bool shares_blocks = ioctl(beside->descriptor(), FICLONE, from.get()) == 0;
  std::expected<std::string, std::string> name = read_through(from.get(), shares_blocks ? -1 : beside->descriptor());
  if (!name) return name;
  const bool is_as_written =
      before == written.value_or(before) && fstat(from.get(), &about) == 0 && identity_of(about) == before;
  if (!is_as_written) return std::unexpected("it was changed after it was written");
  if (const int error = beside->place(content_path(*name)); error != 0) return std::unexpected(error_text(error));
  return name;
}

bool KeptFiles::restore(const std::string& name, const std::string& path) {
  const std::string content = content_path(name);
  struct stat about;
  const bool exists = stat(path.c_str(), &about) == 0;
  const bool is_other = exists && (!S_ISREG(about.st_mode) || is_stream(path));  // a device or pipe
  if (exists && !is_other && name.starts_with(fmt::format("{}-", about.st_size)) && open_and_name(path) == name)
    return true;
  const FileDescriptor from(open(content.c_str(), O_RDONLY | O_CLOEXEC));
  if (!from || fstat(from.get(), &about) != 0) return false;
  if (is_other) {
    const FileDescriptor to(open(path.c_str(), O_WRONLY | O_CLOEXEC | O_TRUNC));
    return to && read_through(from.get(), to.get()) == name;
  }
  std::error_code code;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, code);
  const std::expected<std::filesystem::path, int> target = target_of_links(path);
  if (!target) return false;
  std::expected<FileBeside, int> beside = FileBeside::make(target->string(), content_mode(about));
  if (!beside || read_through(from.get(), beside->descriptor()) != name) return false;
  struct stat made;  // that of what is replaced: a program is one then, too
  if (fstat(beside->descriptor(), &made) == 0)
    fchmod(beside->descriptor(), (made.st_mode | (about.st_mode & 0111)) & 0777);
  return beside->place(target->string()) == 0;
}

}  // namespace raddle::vm
