#include "vm/memory/spill_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace raddle::vm {

namespace {

/// @return -1 with errno
int open_nameless_in(const std::string& folder) {
  const int file = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0 || errno != EOPNOTSUPP) return file;
  std::string name = folder + "/raddle-spill-XXXXXX";  // not every file system has files without names
  const int named = mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) unlink(name.c_str());
  return named;
}

}  // namespace

std::expected<std::unique_ptr<SpillFile>, std::string> SpillFile::open(const std::string& folder,
                                                                       std::size_t slot_bytes) {
  const int file = open_nameless_in(folder);
  if (file < 0) return std::unexpected("no file can be made in `" + folder + "`: " + std::strerror(errno));
  static_cast<void>(fcntl(file, F_SETFL, O_DIRECT));  // where the file system lets it
  return std::unique_ptr<SpillFile>(new SpillFile(file, folder, slot_bytes));
}

SpillFile::~SpillFile() { close(file_); }

SpillFile::Slot SpillFile::take_slot() {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) return end_++;
  const Slot slot = free_.back();
  free_.pop_back();
  return slot;
}

void SpillFile::give_back(Slot slot) {
  const std::lock_guard lock(mutex_);
  free_.push_back(slot);
}

int SpillFile::write(Slot slot, const void* from, std::size_t bytes) {
  const auto* at = static_cast<const std::byte*>(from);
  auto offset = static_cast<off_t>(slot * slot_bytes_);
  while (bytes > 0) {
    const ssize_t written = pwrite(file_, at, bytes, offset);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    if (written == 0) return ENOSPC;
    at += written;
    offset += written;
    bytes -= static_cast<std::size_t>(written);
  }
  return 0;
}

int SpillFile::read(Slot slot, void* to, std::size_t bytes) const {
  auto* at = static_cast<std::byte*>(to);
  auto offset = static_cast<off_t>(slot * slot_bytes_);
  while (bytes > 0) {
    const ssize_t got = pread(file_, at, bytes, offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    if (got == 0) return EIO;
    at += got;
    offset += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return 0;
}

int SpillFile::reserve(Slot slot, std::size_t bytes) {
  return posix_fallocate(file_, static_cast<off_t>(slot * slot_bytes_), static_cast<off_t>(bytes));
}

int SpillFile::map(Slot slot, std::size_t first_byte, void* at, std::size_t bytes, bool writes) const {
  // Not by mmap(): sanitizers take that for a write to the pages, and whoever reads them meanwhile for a race.
  const int protection = writes ? PROT_READ | PROT_WRITE : PROT_READ;
  const long mapped = syscall(SYS_mmap, at, bytes, protection, (writes ? MAP_SHARED : MAP_PRIVATE) | MAP_FIXED, file_,
                              static_cast<off_t>(slot * slot_bytes_ + first_byte));
  return mapped == -1 ? errno : 0;
}

void SpillFile::forget(Slot slot, std::size_t bytes) const {
  static_cast<void>(
      posix_fadvise(file_, static_cast<off_t>(slot * slot_bytes_), static_cast<off_t>(bytes), POSIX_FADV_DONTNEED));
}

double SpillFile::free_bytes() const {
  struct statvfs disk;
  if (fstatvfs(file_, &disk) != 0) return 0;
  return static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize);
}

}  // namespace raddle::vm
