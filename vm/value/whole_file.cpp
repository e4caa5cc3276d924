#include "vm/value/whole_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "vm/value/file_beside.hpp"
#include "vm/value/file_descriptor.hpp"

namespace raddle::vm {
namespace {

namespace fs = std::filesystem;
using Written = std::expected<std::optional<FileIdentity>, int>;

Written fill_file(int file, const std::function<int(int)>& fill) {
  if (const int error = fill(file); error != 0) return std::unexpected(error);
  struct stat status;
  if (fstat(file, &status) != 0) return std::unexpected(errno);
  return S_ISREG(status.st_mode) ? std::optional(identity_of(status)) : std::nullopt;
}

Written fill_and_close(FileDescriptor file, const std::function<int(int)>& fill) {
  Written written = fill_file(file.get(), fill);
  if (const int error = file.close(); written && error != 0) return std::unexpected(error);
  return written;
}

/// The name of a stream to which the path leads. @return "": it leads to none
std::string stream_of(const std::string& path) {
  std::string stream;
  std::error_code failed;
  follow_links(fs::absolute(path, failed), [&stream](const fs::path& name) {
    std::string plain = name.lexically_normal().string();
    if (plain == "/dev/stdin" || plain == "/dev/stdout" || plain == "/dev/stderr" || plain.starts_with("/dev/fd/") ||
        plain.starts_with("/proc/"))
      stream = std::move(plain);
    return stream.empty();
  });
  return stream;
}

/// A stream of this process. @return -1: it is none
int descriptor_of(const std::string& stream) {
  if (stream == "/dev/stdin") return STDIN_FILENO;
  if (stream == "/dev/stdout") return STDOUT_FILENO;
  if (stream == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!stream.starts_with(folder)) continue;
    int number = -1;
    const char* const end = stream.data() + stream.size();
    const auto read = std::from_chars(stream.data() + folder.size(), end, number);
    return read.ec == std::errc() && read.ptr == end ? number : -1;
  }
  return -1;
}

/// Opened by its name a file would be written from its beginning, over what others write to the stream.
Written write_to_stream(int descriptor, const std::function<int(int)>& fill) {
  FileDescriptor stream(fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
  if (!stream) return std::unexpected(errno);
  Written written = fill_and_close(std::move(stream), fill);
  if (written) written->reset();
  return written;
}

/// In a folder in which all may make links, one that neither we nor the folder's owner have made. As the system's
/// protected_symlinks has it, which does not look at links that we follow ourselves.
bool is_planted(const fs::path& link) {
  struct stat own, folder;
  const fs::path parent = link.parent_path();
  if (lstat(link.c_str(), &own) != 0 || stat(parent.empty() ? "." : parent.c_str(), &folder) != 0) return false;
  return (folder.st_mode & S_IWOTH) != 0 && own.st_uid != geteuid() && own.st_uid != folder.st_uid;
}

/// @param target  no link   @return false: it can only be written to as it is
bool is_replaceable(const std::string& target) {
  struct stat status;
  if (is_stream(target)) return false;
  if (lstat(target.c_str(), &status) != 0) return errno == ENOENT;
  return S_ISREG(status.st_mode) && status.st_nlink == 1 && access(target.c_str(), W_OK) == 0;
}

std::expected<FileBeside, int> make_beside(const std::string& target, mode_t mode) {
  std::expected<FileBeside, int> made = FileBeside::make(target, mode);
  if (made || made.error() != ENOENT) return made;
  std::error_code ignored;  // making it again tells
  std::filesystem::create_directories(std::filesystem::path(target).parent_path(), ignored);
  return FileBeside::make(target, mode);
}

Written write_in_place(const std::string& path, mode_t mode, const std::function<int(int)>& fill) {
  FileDescriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode));
  if (!file) return std::unexpected(errno);
  Written written = fill_and_close(std::move(file), fill);
  struct stat status;
  if (!written && stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode)) unlink(path.c_str());
  return written;
}

}  // namespace

bool is_stream(const std::string& path) { return !stream_of(path).empty(); }

int own_stream(const std::string& path) { return descriptor_of(stream_of(path)); }

void follow_links(fs::path path, const std::function<bool(const fs::path&)>& visit) {
  constexpr int most_links = 40;  // as many as the kernel follows
  std::error_code failed;
  for (int i = 0; i <= most_links && visit(path); ++i) {
    if (!fs::is_symlink(fs::symlink_status(path, failed))) return;
    path = path.parent_path() / fs::read_symlink(path, failed);
  }
}

std::expected<fs::path, int> target_of_links(const fs::path& path) {
  fs::path target;
  int error = ELOOP;
  follow_links(path, [&](const fs::path& name) {
    target = name;
    std::error_code failed;
    if (!fs::is_symlink(fs::symlink_status(name, failed)))
      error = 0;
    else if (is_planted(name))
      error = EACCES;
    return error == ELOOP;
  });
  return error == 0 ? std::expected<fs::path, int>(std::move(target)) : std::unexpected(error);
}

Written write_whole(const std::string& path, mode_t mode, const std::function<int(int)>& fill) {
  if (const int descriptor = own_stream(path); descriptor >= 0) return write_to_stream(descriptor, fill);
  const std::expected<fs::path, int> target = target_of_links(path);
  if (!target) return std::unexpected(target.error());
  if (is_stream(path) || !is_replaceable(target->string())) return write_in_place(path, mode, fill);
  std::expected<FileBeside, int> beside = make_beside(target->string(), mode);
  if (!beside) return write_in_place(path, mode, fill);
  Written written = fill_file(beside->descriptor(), fill);
  if (!written) return written;
  if (const int error = beside->place(target->string()); error != 0) return std::unexpected(error);
  return written;
}

}  // namespace raddle::vm
