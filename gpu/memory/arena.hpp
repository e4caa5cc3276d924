#pragma once
// Which parts of a card's memory are taken.
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace raddle::gpu {

/// Takes blocks out of chunks of memory, and puts them together again when they come back. It knows addresses only: all
/// that it notes lies on the host. Free blocks lie in bins, by their size: a power of two, and eighths of it. To take a
/// block and to give one back takes a time that does not depend on how many there are. One thread at a time.
class Arena {
 public:
  static constexpr std::size_t granule = 256;  ///< bytes: sizes and addresses are multiples of it
  static constexpr std::size_t rounded(std::size_t bytes) { return (bytes + granule - 1) / granule * granule; }

  /// Memory that is taken or free.
  struct Block {
    std::uint64_t address = 0;
    std::size_t bytes = 0;
    bool is_free = false;
    Block *below = nullptr, *above = nullptr;    ///< neighbours in the chunk
    Block *previous = nullptr, *next = nullptr;  ///< of a free block: in its bin
  };
  struct Chunk {
    std::uint64_t address = 0;
    std::size_t bytes = 0;
  };

  /// @pre address and size are multiples of the granule
  void add(const Chunk& chunk);
  /// @return at least so many bytes; null: no free block is large enough
  Block* take(std::size_t bytes);
  void give_back(Block* block);
  /// Lets go of a chunk of which nothing is taken; none: there is none.
  std::optional<Chunk> take_empty_chunk();
  std::size_t taken_bytes() const { return taken_bytes_; }

 private:
  static constexpr unsigned parts_log2 = 3, parts = 1U << parts_log2, levels = 48;
  static constexpr int looks = 16;  ///< at blocks that may be too small
  struct Bin {
    unsigned level = 0, part = 0;
  };
  static Bin bin_of(std::size_t granules);
  std::optional<Bin> first_bin_from(Bin bin) const;
  Block* find(std::size_t bytes) const;
  Block* make_block(std::uint64_t address, std::size_t bytes);
  void insert(Block* block);
  void remove(Block* block);
  void join(Block* lower);

  std::size_t taken_bytes_ = 0;
  std::array<std::array<Block*, parts>, levels> bins_{};
  std::uint64_t filled_levels_ = 0;                  ///< a bit for each level that has a free block
  std::array<std::uint8_t, levels> filled_parts_{};  ///< likewise for the bins of each level
  std::vector<Block*> chunks_;                       ///< the lowest block of each, which stays the lowest one
  std::deque<Block> blocks_;
  std::vector<Block*> unused_;  ///< of these
};

}  // namespace raddle::gpu
