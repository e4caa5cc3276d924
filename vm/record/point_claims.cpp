#include "vm/record/point_claims.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "vm/record/record_folder.hpp"

namespace raddle::vm {
namespace {

// Which bytes say what: the first that there is a run; those of blocks, by number; those of single points, by key.
constexpr std::uint64_t presence = 0, largest_number = std::uint64_t{1} << 40, first_of_blocks = std::uint64_t{1} << 41,
                        block_bases = std::uint64_t{1} << 61, first_of_points = std::uint64_t{1} << 62;

struct flock lock_of(short type, std::uint64_t begin, std::uint64_t length) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(begin);
  lock.l_len = static_cast<off_t>(length);
  return lock;
}

struct Lock {
  std::shared_ptr<const FileDescriptor> file;
  std::uint64_t begin, length;
  Lock(std::shared_ptr<const FileDescriptor> of, std::uint64_t from, std::uint64_t bytes)
      : file(std::move(of)), begin(from), length(bytes) {}
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  ~Lock() {
    struct flock unlocked = lock_of(F_UNLCK, begin, length);
    fcntl(file->get(), F_OFD_SETLK, &unlocked);
  }
};

}  // namespace

// Who begins at the same time is either there already when it is asked for, or makes the file longer than it is now.
PointClaims::PointClaims() {
  const std::string path = fmt::format("{}/claims", record_folder);
  auto file =
      std::make_shared<FileDescriptor>(open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0666));
  struct flock own = lock_of(F_RDLCK, presence, 1);
  if (!*file || fcntl(file->get(), F_OFD_SETLK, &own) != 0 || write_all(file->get(), "\n") != 0) return;
  begun_ = size_of(*file);
  struct flock other = lock_of(F_WRLCK, presence, 1);
  had_others_ = fcntl(file->get(), F_OFD_GETLK, &other) == 0 && other.l_type != F_UNLCK;
  file_ = std::move(file);
}

PointClaim PointClaims::claim(const PointKey& key) const {
  return lock(first_of_points + key.low % first_of_points, 1);
}

PointClaim PointClaims::claim(std::uint64_t space, std::uint64_t first, std::uint64_t last) const {
  if (last > largest_number) return std::make_shared<int>();
  return lock(first_of_blocks + space % block_bases + first, last - first + 1);
}

PointClaim PointClaims::lock(std::uint64_t begin, std::uint64_t length) const {
  if (!file_) return std::make_shared<int>();
  struct flock wanted = lock_of(F_WRLCK, begin, length);
  if (fcntl(file_->get(), F_OFD_SETLK, &wanted) == 0) return std::make_shared<Lock>(file_, begin, length);
  if (errno == EAGAIN || errno == EACCES) return nullptr;
  return std::make_shared<int>();
}

bool PointClaims::has_others() const { return had_others_ || (file_ && size_of(*file_) != begun_); }

}  // namespace raddle::vm
