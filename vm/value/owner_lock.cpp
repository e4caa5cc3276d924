#include "vm/value/owner_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace raddle::vm {
namespace {

OwnerLock outcome_of(int returned) {
  if (returned == 0) return OwnerLock::owned;
  return errno == EAGAIN || errno == EACCES ? OwnerLock::taken : OwnerLock::not_there;
}

FileDescriptor lock_left(const std::string& path, int flags, OwnerLock (*lock)(int)) {
  FileDescriptor left(open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status;
  const bool is_ours = left && fstat(left.get(), &status) == 0 && status.st_uid == geteuid() &&
                       (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode));
  if (!is_ours || lock(left.get()) != OwnerLock::owned) return FileDescriptor();
  return left;
}

}  // namespace

OwnerLock lock_file(int fd) {
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  return outcome_of(fcntl(fd, F_OFD_SETLK, &whole));
}

OwnerLock lock_folder(int fd) { return outcome_of(flock(fd, LOCK_EX | LOCK_NB)); }

bool is_at(int fd, const std::string& path) {
  struct stat opened, there;
  return fstat(fd, &opened) == 0 && lstat(path.c_str(), &there) == 0 && opened.st_dev == there.st_dev &&
         opened.st_ino == there.st_ino;
}

FileDescriptor lock_left_file(const std::string& path) { return lock_left(path, O_RDWR, lock_file); }

FileDescriptor lock_left_folder(const std::string& path) {
  return lock_left(path, O_RDONLY | O_DIRECTORY, lock_folder);
}

}  // namespace raddle::vm
