#include "vm/memory/mapped_file.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <mutex>
#include <unordered_set>
#include <utility>
#include <vector>

namespace raddle::vm {
namespace {

/// The handler of a fault takes the mutex, too: whoever holds it reads nothing that is mapped, and so has no such
/// fault.
struct Mapped {
  std::mutex mutex;
  std::vector<const MappedFile*> files;  ///< guarded by it, as the next two
  std::vector<std::string> changed;      ///< of those that are no more: still to be told
  std::unordered_set<std::string> told;

  void add_changed(const std::string& path) {
    if (told.insert(path).second) changed.push_back(path);
  }
};

/// Never destroyed: files may be mapped until the process ends.
Mapped& mapped() {
  static Mapped& all = *new Mapped;
  return all;
}

std::size_t bytes_of(const struct stat& status) { return static_cast<std::size_t>(status.st_size); }

}  // namespace

MappedFile::MappedFile(std::byte* data, std::string path, const struct stat& status)
    : data_(data), path_(std::move(path)), status_(status) {
  const std::lock_guard lock(mapped().mutex);
  mapped().files.push_back(this);
}

std::unique_ptr<MappedFile> MappedFile::make(int file, std::string path) {
  struct stat status;
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) return nullptr;
  // without a reserve: what nobody writes to needs no memory of its own, however much it is
  void* const data = mmap(nullptr, bytes_of(status), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file, 0);
  if (data == MAP_FAILED) return nullptr;
  return std::unique_ptr<MappedFile>(new MappedFile(static_cast<std::byte*>(data), std::move(path), status));
}

MappedFile::~MappedFile() {
  {
    const std::lock_guard lock(mapped().mutex);
    std::erase(mapped().files, this);
    if (is_changed()) mapped().add_changed(path_);
  }
  munmap(data_, bytes_of(status_));
}

bool MappedFile::is_changed() const {
  struct stat now;
  if (stat(path_.c_str(), &now) != 0 || now.st_dev != status_.st_dev || now.st_ino != status_.st_ino) return false;
  return now.st_size != status_.st_size || now.st_mtim.tv_sec != status_.st_mtim.tv_sec ||
         now.st_mtim.tv_nsec != status_.st_mtim.tv_nsec;
}

const char* lost_file(int signal, const siginfo_t& info) {
  if (signal != SIGBUS || info.si_code <= 0) return nullptr;
  const auto* const at = static_cast<const std::byte*>(info.si_addr);
  const std::lock_guard lock(mapped().mutex);
  const auto holds = [at](const MappedFile* file) {
    return at >= file->data_ && at < file->data_ + bytes_of(file->status_);
  };
  const auto found = std::ranges::find_if(mapped().files, holds);
  return found == mapped().files.end() ? nullptr : (*found)->path_.c_str();
}

std::vector<std::string> take_changed_files() {
  const std::lock_guard lock(mapped().mutex);
  for (const MappedFile* const file : mapped().files)
    if (file->is_changed()) mapped().add_changed(file->path_);
  return std::exchange(mapped().changed, {});
}

}  // namespace raddle::vm
