#pragma once
// The numbers of arrays when a run has less memory than data (`--memory`).
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "vm/memory/spill_file.hpp"

namespace raddle::vm {

/// Memory for numbers that are written once. What does not fit goes to a file, piece by piece, and comes back.
///
/// A piece counts from begin_write() on, is open until all of it has been written, and then may go. It keeps its
/// address. Where it was, nobody may read or write any more: who does gets a fault (page_faults.hpp), which brings it.
/// So use() is for speed, never for the result, and nothing is in memory that is not counted. Who writes to what has
/// been closed gets a fault that nobody serves, not a wrong number. Of those that may go, the one goes that was used or
/// brought the longest time ago.
///
/// Where none may go, as all are open, the next one is written into the file's own pages, and what is read is read
/// there: so nobody ever waits for what others have yet to write. The same is done, page by page, where numbers are
/// read that do not follow each other. Of such windows window_bytes are beside the limit, others count as what is in
/// memory does.
///
/// Threads: any, but for begin(); none that blocks SIGSEGV reads or writes numbers, nor may the system do so for it
/// (`write` of what lies there), but for blocks that are lent().
class BoundedMemory {
 public:
  static constexpr std::size_t piece_bytes = std::size_t{1} << 20;
  /// Smaller blocks never go: they are the allocator's, and only counted.
  static constexpr std::size_t least_bytes = std::size_t{256} << 10;
  /// Of windows, beside the limit.
  static constexpr std::size_t window_bytes = 16 * piece_bytes;

  class Block;
  struct Settings {
    std::size_t limit_bytes;
    std::string spill_folder;
    /// Does not return. Told why there is no memory: the limit is too small, the disk is full
    void (*end)(const std::string& why);
  };
  /// Of whoever wants to know which of some blocks leave memory.
  class Watch {
    friend class BoundedMemory;
    std::vector<Block*> went;  ///< has room for all: it does not grow in a fault
    std::vector<std::uint32_t> given_back;
    std::size_t count = 0;
  };
  struct Counters {
    std::uint64_t peak_bytes = 0;
    std::uint64_t bytes_out = 0, bytes_in = 0;  ///< written to the file, read from it
    std::uint64_t window_bytes = 0;             ///< of pages that were read or written in the file itself
    std::uint64_t dropped_bytes = 0;            ///< that went without being written, as the file had them
  };

  /// Of blocks with one name: pieces that were read from the file, were written to it, left memory.
  struct Traffic {
    std::uint64_t loads = 0, bytes_in = 0;
    std::uint64_t write_backs = 0, bytes_out = 0;
    std::uint64_t evictions = 0;
  };
  /// A piece on its way, on the steady clock.
  struct Move {
    bool is_out = false;  ///< to the file
    std::int64_t start_ns = 0, end_ns = 0;
    std::size_t bytes = 0;
    std::size_t used_bytes = 0;  ///< of memory, at the end
  };

  /// @pre there is no other one   @error  no file in the folder
  static std::expected<std::unique_ptr<BoundedMemory>, std::string> make(const Settings& settings);
  /// Arrays of this process have a limit from now on, until it ends. @pre there are no other threads   @error as make()
  static std::expected<void, std::string> begin(const Settings& settings);
  /// That of begin(). Null: there is no limit.
  static BoundedMemory* get() { return of_process_; }
  ~BoundedMemory();

  /// Addresses for a block. @error std::bad_alloc
  Block& take(std::size_t bytes);
  /// Nobody reads it any more.
  void give_back(Block& block);
  static std::byte* address_of(Block& block);
  static std::size_t bytes_of(const Block& block);
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
  /// All of it will be used soon: movers bring it, if they have not much else to do. Does not wait.
  void announce(Block& block);
  // ---- for who knows what will be read, and when (vm/interpret/placed_calls.hpp); else all go as they were used
  /// went() tells by this number that the block, or a part of it, has left memory. @pre nobody else watches it
  /// @return whether all of it is there
  bool begin_watch(Watch& watch, Block& block, std::uint32_t number);
  /// The block is spare.
  void end_watch(Block& block);
  /// Since it was asked last.
  std::vector<std::uint32_t> went(Watch& watch);
  /// Likewise: watched blocks that are no more.
  std::vector<std::uint32_t> given_back(Watch& watch);
  /// It goes after what is spare, and after all others that are kept so far.
  void keep(Block& block);
  /// It goes before all that is kept.
  void spare(Block& block);
  /// Movers bring it, whatever else they have to do. Does not wait.
  void fetch(Block& block);
  /// What moves of it counts for this name from now on. @param name  from 1 on: whoever gives names knows what they
  /// mean
  void set_name(Block& block, std::uint32_t name);
  /// By name; 0: of blocks without one.
  std::vector<Traffic> traffic_by_name() const;
  /// Moves are kept from now on: of more than so many neighbours become one.
  void keep_moves(std::size_t most);
  std::vector<Move> moves() const;
  /// What blocks that may go can take all together.
  std::size_t room_bytes() const;
  /// Of all blocks that this thread has ever taken.
  static std::uint64_t bytes_made_here() { return bytes_made_here_; }

  /// From now on anybody may read what is closed there, and write what is open: code that knows nothing of faults, the
  /// system, a forked process. What is not in memory is read from the file, and not counted.
  void lend(Block& block);
  /// Once for each lend().
  void end_lending(Block& block);
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
  struct Order;
  struct Ahead;
  struct Window;
  enum class PieceState : std::uint8_t;
  using Lock = std::unique_lock<std::mutex>;
  BoundedMemory(Settings settings, std::unique_ptr<SpillFile> file);

  // --- bounded_memory.cpp
  void begin(Lock& lock, Piece& piece);
  void start_movers();
  bool make_room(Lock& lock, std::size_t bytes);
  void add(std::size_t bytes);
  void set_closed(Piece& piece);
  std::size_t taken() const;
  [[noreturn]] void end_for_limit();
  [[noreturn]] void end_for_disk(int error, const char* action);

  // --- moving_pieces.cpp
  std::ptrdiff_t most_ahead() const;
  void want(Block& block, const Ahead& ahead);
  void forget_wanted(Piece& piece);
  void move_pieces(const std::stop_token& stop);
  bool lacks_room() const;
  static bool serve(std::byte* address, bool is_write);
  bool serve(Lock& lock, Block& block, std::size_t offset, bool is_write);
  void send_away(Lock& lock, Piece& piece);
  void bring(Lock& lock, Piece& piece);
  void open_window(const Window& window, std::size_t most_bytes);
  std::size_t counted_windows() const;
  void close_oldest_window();
  void close_windows(Piece& piece);
  void map(const Window& window);
  void conceal(const Window& window);
  void await_moved(Lock& lock, const Piece& piece);

  // --- watched_blocks.cpp
  void note_gone(Block& block);
  void forget_watch(Block& block);
  void note_move(const Block& block, const Move& move);
  Piece* next_to_go() const;
  Order& order_of(const Piece& piece);
  void set_spare(Piece& piece, bool is_spare);

  static thread_local std::uint64_t bytes_made_here_;
  static BoundedMemory* of_process_;            ///< set before there are other threads
  static std::atomic<BoundedMemory*> serving_;  ///< whose pages faults are about. Set before there are any
  const Settings settings_;
  const std::unique_ptr<SpillFile> file_;
  /// A count that nobody orders anything by: relaxed. Below 0 where what was made before there was a limit is given
  /// back
  std::atomic<std::ptrdiff_t> small_bytes_{0};
  mutable std::mutex mutex_;             ///< guards all below and the pieces, but for two of their members
  std::condition_variable moved_;        ///< a piece is there, or away
  std::condition_variable_any to_do_;    ///< for movers
  std::size_t used_bytes_ = 0;           ///< of pieces that are in memory, or on their way
  std::size_t windows_bytes_ = 0;        ///< of `windows_`
  unsigned leaving_ = 0;                 ///< pieces that are being written to the file
  std::size_t moving_bytes_ = 0;         ///< of pieces that leave or come, among used_bytes_
  const std::unique_ptr<Order> kept_;    ///< pieces that may go
  const std::unique_ptr<Order> spare_;   ///< likewise, before those
  const std::unique_ptr<Order> wanted_;  ///< that are away and will be read: movers bring them
  /// As they were opened: a ring, as memory can not be asked for in a fault. Of those that were closed early the piece
  /// is null.
  const std::unique_ptr<Window[]> windows_;
  std::size_t first_window_ = 0, window_count_ = 0;
  std::map<std::byte*, Block*> blocks_;  ///< by address
  std::size_t wanted_count_ = 0;
  bool is_crowded_ = false;  ///< something had to go
  Counters counters_;
  std::vector<Traffic> traffic_ = std::vector<Traffic>(1);  ///< by name
  std::vector<Move> moves_;                                 ///< has room for all: it does not grow in a fault
  std::vector<std::jthread> movers_;                        ///< ended before all above goes
};

}  // namespace raddle::vm
