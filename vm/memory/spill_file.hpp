#pragma once
// Where numbers go that do not fit into the memory of a run.
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace raddle::vm {

/// A file without a name, so that a process which is killed leaves nothing behind. It consists of slots of equal size,
/// whose space on the disk is taken as they are written. Whatever lies in memory is a multiple of page_bytes and
/// aligned to it: so it is read and written past the system's own cache, where the file system lets it. Threads: any.
class SpillFile {
 public:
  using Slot = std::uint32_t;
  static constexpr Slot no_slot = ~Slot{0};
  static constexpr std::size_t page_bytes = 4096;

  /// @error  why there can be no file in the folder
  static std::expected<std::unique_ptr<SpillFile>, std::string> open(const std::string& folder, std::size_t slot_bytes);
  ~SpillFile();
  SpillFile(const SpillFile&) = delete;

  Slot take_slot();
  /// Its space is used again for another one.
  void give_back(Slot slot);

  /// @return 0, or what errno says: ENOSPC where the disk is full   @pre bytes <= slot_bytes
  int write(Slot slot, const void* from, std::size_t bytes);
  int read(Slot slot, void* to, std::size_t bytes) const;
  /// Takes its space on the disk. @return 0 or errno   @pre bytes <= slot_bytes
  int reserve(Slot slot, std::size_t bytes);
  /// Puts what the slot holds from `first_byte` on in the place of the pages at `at`, at once: whoever reads there
  /// reads the old pages or the new ones, which the system reads when they are touched. @param writes  whoever writes
  /// there writes to the file, else nobody can   @return 0 or errno
  int map(Slot slot, std::size_t first_byte, void* at, std::size_t bytes, bool writes) const;
  /// The system need not keep what it has read of the slot.
  void forget(Slot slot, std::size_t bytes) const;

  /// What the disk has left, for this user. 0 where nobody says
  double free_bytes() const;
  const std::string& folder() const { return folder_; }

 private:
  SpillFile(int file, std::string folder, std::size_t slot_bytes)
      : file_(file), folder_(std::move(folder)), slot_bytes_(slot_bytes) {}

  const int file_;
  const std::string folder_;
  const std::size_t slot_bytes_;
  std::mutex mutex_;  ///< guards all below
  std::vector<Slot> free_;
  Slot end_ = 0;
};

}  // namespace raddle::vm
