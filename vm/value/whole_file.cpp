#include "vm/value/whole_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "vm/value/file_descriptor.hpp"
#include "vm/value/temporaries.hpp"

namespace raddle::vm {
namespace {

using Written = std::expected<std::optional<FileIdentity>, int>;

Written fill_and_close(FileDescriptor file, const std::function<int(int)>& fill) {
  if (const int error = fill(file.get()); error != 0) return std::unexpected(error);
  struct stat status;
  if (fstat(file.get(), &status) != 0) return std::unexpected(errno);
  if (close(file.release()) != 0) return std::unexpected(errno);
  return S_ISREG(status.st_mode) ? std::optional(identity_of(status)) : std::nullopt;
}

/// What is to be replaced, through links. @return none: it can only be written to as it is
std::optional<std::string> replaceable(const std::string& path) {
  struct stat status;
  if (lstat(path.c_str(), &status) != 0) return path;
  std::string target = path;
  if (S_ISLNK(status.st_mode)) {
    std::error_code failed;
    target = std::filesystem::canonical(path, failed).string();
    if (failed || stat(target.c_str(), &status) != 0) return std::nullopt;
  }
  if (!S_ISREG(status.st_mode) || access(target.c_str(), W_OK) != 0) return std::nullopt;
  return target;
}

FileDescriptor open_new(const std::string& path, mode_t mode) {
  constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
  FileDescriptor file(open(path.c_str(), flags, mode));
  if (file || errno != ENOENT) return file;
  std::error_code ignored;  // opening again tells
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  return FileDescriptor(open(path.c_str(), flags, mode));
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

Written write_whole(const std::string& path, mode_t mode, const std::function<int(int)>& fill) {
  const std::optional<std::string> target = replaceable(path);
  if (!target) return write_in_place(path, mode, fill);
  const std::string aside = name_beside(*target);
  FileDescriptor file = open_new(aside, mode);
  if (!file) return write_in_place(path, mode, fill);
  Written written = fill_and_close(std::move(file), fill);
  if (written && rename(aside.c_str(), target->c_str()) != 0) written = std::unexpected(errno);
  if (!written) unlink(aside.c_str());
  return written;
}

}  // namespace raddle::vm
