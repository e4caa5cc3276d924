#pragma once
// The elements of densely keyed arrays: a table that grows in place, so that futures never move and readers never lock.
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

#include "vm/value/future.hpp"

namespace raddle::vm {

/// What an array knows of a key.
enum class ElementMark : std::uint8_t {
  untouched,
  awaited,   ///< read before it was inserted
  inserted,  ///< its future is set, or will be by whoever inserted it
  outside,   ///< the element lies elsewhere: see ElementTable
};

struct ElementSlot {
  Future* future = nullptr;
  std::atomic<ElementMark>* mark = nullptr;
  explicit operator bool() const { return future != nullptr; }
};

/// Keys below 256 lie in five blocks of 16, 16, 32, 64 and 128 elements, the others in chunks of 256, found through
/// levels of 1, 2, 4, ... pointers. Blocks, levels and chunks are made by whoever needs them first and published by CAS
/// (release; readers acquire); the loser of a race deletes his own. Nothing is moved or freed before the table.
///
/// A chunk may leave out some of its keys: its owner had put them elsewhere before the chunk was made. They are marked
/// `outside` before it is published, for ever.
class ElementTable {
 public:
  static constexpr std::int64_t limit = std::int64_t{1} << 28;  ///< keys are 0..limit-1
  static constexpr std::int64_t small_limit = 256;              ///< make_small() is for keys below
  static constexpr std::int64_t chunk_size = 256;

  ElementTable() = default;
  ElementTable(const ElementTable&) = delete;
  ElementTable& operator=(const ElementTable&) = delete;
  ~ElementTable();

  /// @return null if there is no memory for the key
  ElementSlot find(std::int64_t key) const {
    if (key < small_limit) {
      const unsigned block = block_of(key);
      Future* futures = blocks_[block].load(std::memory_order_acquire);
      return futures ? slot(futures, block_size(block), key - block_first(block)) : ElementSlot();
    }
    Future* futures = find_chunk(static_cast<std::uint64_t>(key / chunk_size));
    return futures ? slot(futures, chunk_size, key % chunk_size) : ElementSlot();
  }
  /// Makes the block of a small key if needed.
  ElementSlot make_small(std::int64_t key);
  /// Makes the chunk of `key`. @param outside  marked so if it is made now
  template <typename Keys>
  void make_chunk(std::int64_t key, const Keys& outside) {
    std::atomic<Future*>& place = chunk_place(static_cast<std::uint64_t>(key / chunk_size));
    if (place.load(std::memory_order_acquire)) return;
    Future* chunk = allocate(chunk_size);
    for (const std::int64_t left_out : outside)
      slot(chunk, chunk_size, left_out % chunk_size).mark->store(ElementMark::outside, std::memory_order_relaxed);
    publish(place, chunk, chunk_size);
  }

  /// Visits all elements but the untouched and the outside ones, by increasing key: visit(std::int64_t, ElementSlot).
  template <typename Visit>
  void visit(const Visit& visit) const {
    for (unsigned block = 0; block < block_count; ++block)
      visit_part(blocks_[block].load(std::memory_order_acquire), block_first(block), block_size(block), visit);
    const Levels* levels = levels_.load(std::memory_order_acquire);
    if (!levels) return;
    for (unsigned level = 0; level < level_count; ++level) {
      const std::atomic<Future*>* chunks = levels->chunks[level].load(std::memory_order_acquire);
      if (!chunks) continue;
      const std::int64_t count = std::int64_t{1} << level;
      for (std::int64_t i = 0; i < count; ++i)
        visit_part(chunks[i].load(std::memory_order_acquire), (count + i) * chunk_size, chunk_size, visit);
    }
  }

 private:
  static constexpr unsigned block_count = 5;
  static constexpr unsigned level_count = std::bit_width(static_cast<std::uint64_t>(limit / chunk_size)) - 1;
  struct Levels {
    std::array<std::atomic<std::atomic<Future*>*>, level_count> chunks{};
  };

  static unsigned block_of(std::int64_t key) {
    return static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(key) >> 4));
  }
  static std::int64_t block_first(unsigned block) { return block == 0 ? 0 : std::int64_t{8} << block; }
  static std::int64_t block_size(unsigned block) { return block == 0 ? 16 : std::int64_t{8} << block; }

  // A part, block or chunk: its futures, then their marks.
  static Future* allocate(std::int64_t size);
  static void free(Future* part, std::int64_t size);
  static void publish(std::atomic<Future*>& place, Future* part, std::int64_t size);
  static ElementSlot slot(Future* part, std::int64_t size, std::int64_t offset) {
    return {part + offset, reinterpret_cast<std::atomic<ElementMark>*>(part + size) + offset};
  }
  template <typename Visit>
  static void visit_part(Future* part, std::int64_t first, std::int64_t size, const Visit& visit) {
    if (!part) return;
    for (std::int64_t i = 0; i < size; ++i) {
      const ElementSlot element = slot(part, size, i);
      // seq_cst: the closer of an array looks for marks here (see Note [Closing] in array.hpp); a plain load on x86
      const ElementMark mark = element.mark->load(std::memory_order_seq_cst);
      if (mark == ElementMark::awaited || mark == ElementMark::inserted) visit(first + i, element);
    }
  }

  /// @param number  key / chunk_size, 1 or more
  Future* find_chunk(std::uint64_t number) const {
    const Levels* levels = levels_.load(std::memory_order_acquire);
    if (!levels) return nullptr;
    const unsigned level = static_cast<unsigned>(std::bit_width(number)) - 1;
    const std::atomic<Future*>* chunks = levels->chunks[level].load(std::memory_order_acquire);
    return chunks ? chunks[number - (std::uint64_t{1} << level)].load(std::memory_order_acquire) : nullptr;
  }
  /// Makes the level of chunk `number` if needed.
  std::atomic<Future*>& chunk_place(std::uint64_t number);

  std::array<std::atomic<Future*>, block_count> blocks_{};
  std::atomic<Levels*> levels_{nullptr};
};

}  // namespace raddle::vm
