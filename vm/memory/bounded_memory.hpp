#pragma once
// The numbers of arrays when a run has less memory than data (`--memory`).
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <unordered_set>

#include "vm/memory/spill_file.hpp"

namespace raddle::vm {

/// Memory for numbers that are written once. What does not fit goes to a file, piece by piece, and comes back.
///
/// A piece counts from begin_write() on, is open until all of it has been written, and then may go. It keeps its
/// address: when it goes, the pages are replaced by a mapping of the file, so that whoever reads it at that moment, or
/// later without use(), reads the same numbers, only slower. So use() is for speed and for the count of bytes, never
/// for the result; who writes to what has been closed gets a fault of the system, not a wrong number. Of those that may
/// go, the one goes that use() was called for the longest time ago. Where none may go, as all are open, the next one is
/// written into the file's own pages from the start: so nobody ever waits for what others have yet to write.
///
/// What is read without use(), or written there, are pages of the file, which the system brings one by one: a thread
/// looks how many there are, and lets them go when they are more than a part of the limit.
///
/// Threads: any, but for begin().
class BoundedMemory {
 public:
  static constexpr std::size_t piece_bytes = std::size_t{1} << 20;
  /// Smaller blocks never go: they are the allocator's, and only counted.
  static constexpr std::size_t least_bytes = std::size_t{256} << 10;

  class Block;
  struct Settings {
    std::size_t limit_bytes;
    std::string spill_folder;
    /// Does not return. Told why there is no memory: the limit is too small, the disk is full
    void (*end)(const std::string& why);
  };
  struct Counters {
    std::uint64_t peak_bytes = 0;
    std::uint64_t bytes_out = 0, bytes_in = 0;  ///< written to the file, read from it by use()
    std::uint64_t dropped_bytes = 0;            ///< that went without being written, as the file had them
  };

  /// @error  no file in the folder
  static std::expected<std::unique_ptr<BoundedMemory>, std::string> make(const Settings& settings);
  /// Arrays of this process have a limit from now on, until it ends. @pre there are no other threads   @error as make()
  static std::expected<void, std::string> begin(const Settings& settings);
  /// That of begin(). Null: there is no limit.
  static BoundedMemory* get() { return of_process_; }

  /// Addresses for a block. @error std::bad_alloc
  Block& take(std::size_t bytes);
  /// Nobody reads it any more.
  void give_back(Block& block);
  static std::byte* address_of(Block& block);
  /// These bytes are about to be written for the first time, by whoever calls. Until then what they are is undefined.
  void begin_write(Block& block, std::size_t offset, std::size_t bytes);
  void begin_write(Block& block);  ///< all of them
  /// These bytes, which were not before, are written for good.
  void wrote(Block& block, std::size_t offset, std::size_t bytes);
  /// So are all that were not.
  void close(Block& block);
  /// These bytes are about to be read: they come to memory, if they are not there and there is room.
  void use(Block& block, std::size_t offset, std::size_t bytes);
  void use(Block& block);
  /// Memory of numbers that never goes. @param change  bytes, negative where it is given back
  void count_small(std::ptrdiff_t change);

  /// What arrays can take: the limit, and what the disk has left.
  double space_bytes() const;
  /// What is told of one that takes more. @param what  as a sentence begins: "the array `a[5]`"
  std::string no_space_text(const std::string& what, double bytes) const;

  std::size_t limit_bytes() const { return settings_.limit_bytes; }
  Counters counters() const;

 private:
  struct Piece;
  using Lock = std::unique_lock<std::mutex>;
  BoundedMemory(Settings settings, std::unique_ptr<SpillFile> file)
      : settings_(std::move(settings)), file_(std::move(file)) {}

  bool make_room(Lock& lock, std::size_t bytes);
  void begin_in_file(Piece& piece);
  void add(std::size_t bytes);
  void send_away(Lock& lock, Piece& piece);
  void bring(Lock& lock, Piece& piece);
  void list(Piece& piece);
  void unlist(Piece& piece);
  void set_closed(Piece& piece);
  void watch_strays(const std::stop_token& stop);
  void drop_strays();
  std::size_t taken() const;
  [[noreturn]] void end_for_limit();
  [[noreturn]] void end_for_disk(int error, const char* action);

  static BoundedMemory* of_process_;  ///< set before there are other threads
  const Settings settings_;
  const std::unique_ptr<SpillFile> file_;
  /// A count that nobody orders anything by: relaxed. Below 0 where what was made before there was a limit is given
  /// back
  std::atomic<std::ptrdiff_t> small_bytes_{0};
  mutable std::mutex mutex_;       ///< guards all below and the pieces, but for two of their members
  std::condition_variable moved_;  ///< a piece is there, or away
  std::size_t used_bytes_ = 0;     ///< of pieces that are in memory, or on their way
  unsigned leaving_ = 0;           ///< pieces that are being written to the file
  Piece* oldest_ = nullptr;        ///< of those that may go
  Piece* newest_ = nullptr;
  std::unordered_set<Block*> blocks_;
  Counters counters_;
  std::jthread watch_;  ///< of watch_strays(): ended before all above goes
};

}  // namespace raddle::vm
