#pragma once
// What BoundedMemory knows of its blocks. For its own sources.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "vm/memory/bounded_memory.hpp"
#include "vm/memory/spill_file.hpp"

namespace raddle::vm {

inline std::int64_t steady_ns() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

enum class BoundedMemory::PieceState : std::uint8_t {
  bare,     ///< addresses only
  open,     ///< in memory, not all of it is written
  in_file,  ///< the same, but in the file; there are pages where there are windows
  kept,     ///< in memory; may go
  leaving,  ///< is being written to the file
  away,     ///< in the file; likewise
  coming,   ///< is being read
};

struct BoundedMemory::Piece {
  std::byte* address = nullptr;
  std::size_t bytes = 0;               ///< whole pages
  std::atomic<std::size_t> unwritten;  ///< of the bytes that were asked for. acq_rel: who writes the last one, and so
                                       ///< closes the piece, sees what all others have written
  std::atomic<bool> is_begun{false};   ///< not bare any more. acquire, release: who sees it may write
  PieceState state = PieceState::bare;
  Block* block = nullptr;
  bool is_lent = false;    ///< of a block that is: then what is in the file has its pages, without windows
  bool is_wanted = false;  ///< it is in `wanted_`; else in `kept_` or `spare_`, if it is kept
  bool is_spare = false;   ///< which of the two
  std::uint32_t windows = 0;
  SpillFile::Slot slot = SpillFile::no_slot;  ///< the file has it
  Piece* older = nullptr;                     ///< in the order that it is in
  Piece* newer = nullptr;
};

/// Pieces in the order in which they were used.
struct BoundedMemory::Order {
  std::size_t bytes = 0;
  Piece* oldest = nullptr;
  Piece* newest = nullptr;
  void add(Piece& piece) {
    piece.older = newest;
    piece.newer = nullptr;
    (newest ? newest->newer : oldest) = &piece;
    newest = &piece;
    bytes += piece.bytes;
  }
  void remove(Piece& piece) {
    (piece.older ? piece.older->newer : oldest) = piece.newer;
    (piece.newer ? piece.newer->older : newest) = piece.older;
    bytes -= piece.bytes;
  }
};

/// The system has no more than 65,530 mappings for a process.
inline constexpr std::size_t most_windows = 32768, most_windows_bytes = most_windows * SpillFile::page_bytes;

/// Pages of a piece that are read or written in the file.
struct BoundedMemory::Window {
  Piece* piece;
  std::size_t first_byte, bytes;
};

/// Pieces that are about to be read: so many from `first` on, by `step`, 1 or -1.
struct BoundedMemory::Ahead {
  std::ptrdiff_t first = 0, step = 1, count = 0;
};

class BoundedMemory::Block {
 public:
  Block(std::byte* address, std::size_t bytes);

  /// The page is looked for and not in memory. @param most  pieces that may come before they are looked for
  /// @return nothing, if it does not follow one that was looked for before; else what to bring after its piece
  std::optional<Ahead> walk_to(std::ptrdiff_t page, std::ptrdiff_t most);
  /// The same of the first page of a piece, of which all pages will be read.
  Ahead walk_to_piece(std::ptrdiff_t piece, std::ptrdiff_t most);

  std::byte* const address;
  const std::size_t bytes;  ///< that were asked for
  std::deque<Piece> pieces;
  unsigned lendings = 0;
  std::uint32_t name = 0;    ///< set_name()
  Watch* watch = nullptr;    ///< null: nobody is told of it
  std::uint32_t number = 0;  ///< what the watch calls it
  bool is_noted = false;     ///< in Watch::went

 private:
  /// Pages are read one after the other: forwards, backwards, or it is not known yet which way.
  struct Walk {
    std::ptrdiff_t step = 0;
    std::ptrdiff_t page = -3;   ///< the last one that was looked for
    std::ptrdiff_t reach = -3;  ///< the last piece that was asked for
  };
  Ahead go_on(Walk& walk, std::ptrdiff_t page, std::ptrdiff_t most);
  std::array<Walk, 16> walks_;  ///< of several threads
  std::size_t next_walk_ = 0;
};

}  // namespace raddle::vm
