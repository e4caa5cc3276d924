#pragma once
// The elements of densely keyed arrays: a table that grows in place, so that futures never move and readers take no
// lock.
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <tuple>
#include <utility>

#include "vm/value/buffer.hpp"
#include "vm/value/element.hpp"

namespace raddle::vm {

/// Numbers that follow each other: where they lie, those of which key they are.
struct NumberRun {
  ValueKind kind;
  const void* words;  ///< as in a Buffer
  std::int64_t count;
  std::uint64_t bits(std::int64_t offset) const {
    return static_cast<std::uint64_t>(number_at(words, kind, static_cast<std::size_t>(offset)));
  }
  Value at(std::int64_t offset) const { return Value::from_bits(kind, bits(offset)); }
  NumberRun part(std::int64_t first, std::int64_t part_count) const {
    const std::int64_t bytes = first * static_cast<std::int64_t>(size_of_number(kind));
    return {kind, static_cast<const std::byte*>(words) + bytes, part_count};
  }
};

/// The values of elements of a chunk, or of a block of small keys, written by index launches: no futures, no marks,
/// nobody waits for them. Each has a bit that says whether it is there; who needs a key of a chunk that is not there
/// finds it elsewhere (Array, KeyedElements).
/// Protocol of the bits: before the chunk is published whoever makes it writes numbers and bits; from then on whoever
/// holds the mutex of KeyedElements for the chunk, numbers before their bits (release; readers acquire).
class NumberChunk {
 public:
  static constexpr std::int64_t size = 256;  ///< numbers, at most
  struct Free {
    void operator()(NumberChunk* chunk) const;
  };
  using Owner = std::unique_ptr<NumberChunk, Free>;
  /// @param kind  a number's
  static Owner make(ValueKind kind, std::int64_t count = size);

  ValueKind kind() const { return kind_; }
  bool has(std::int64_t offset) const {
    return (present_[static_cast<std::size_t>(offset) / 64].load(std::memory_order_acquire) >> (offset % 64) & 1) != 0;
  }
  /// They have been written.
  void set_present(std::int64_t first, std::int64_t count);
  /// Copies numbers of this kind to where they belong.
  void write(std::int64_t first, const NumberRun& numbers);
  /// The next ones of the first `count` that are there and follow each other. @return {first, end}; first is `count` if
  /// there are none
  std::pair<std::int64_t, std::int64_t> next_run(std::int64_t offset, std::int64_t count) const;
  NumberRun run(std::int64_t first, std::int64_t count) const {
    return NumberRun{kind_, words(), size}.part(first, count);
  }
  /// As in a Buffer.
  void* words() { return this + 1; }
  const void* words() const { return this + 1; }
  /// Where the number of a key lies.
  void* word(std::int64_t offset) {
    return static_cast<std::byte*>(words()) + static_cast<std::size_t>(offset) * size_of_number(kind_);
  }
  Value at(std::int64_t offset) const {
    return Value::from_bits(kind_,
                            static_cast<std::uint64_t>(number_at(words(), kind_, static_cast<std::size_t>(offset))));
  }

 private:
  explicit NumberChunk(ValueKind kind) : kind_(kind) {}
  const ValueKind kind_;
  std::array<std::atomic<std::uint64_t>, size / 64> present_{};
  std::uint64_t unused_ = 0;  // what follows is aligned
};

/// The first four keys lie in the table itself, those below 256 in five blocks of 12, 16, 32, 64 and 128 elements, the
/// others in chunks of 256, found through levels of 1, 2, 4, ... pointers. Blocks are found from a directory, levels
/// from a list of them, so that a table of few elements is small. Directory, blocks, levels and chunks are made by
/// whoever needs them first and published by CAS (release; readers acquire); the loser of a race deletes his own.
/// Nothing is moved or freed before the table.
///
/// A chunk may leave out some of its keys: its owner had put them elsewhere before the chunk was made. They are marked
/// `outside` before it is published, for ever. Or a chunk or block holds numbers and nothing else, a block those of all
/// of its keys: a pointer to it has its lowest bit set.
class ElementTable {
 public:
  static constexpr std::int64_t limit = std::int64_t{1} << 28;  ///< keys are 0..limit-1
  static constexpr std::int64_t small_limit = 256;              ///< make_small() is for keys below
  static constexpr std::int64_t chunk_size = NumberChunk::size;

  ElementTable() = default;
  ElementTable(const ElementTable&) = delete;
  ElementTable& operator=(const ElementTable&) = delete;
  ~ElementTable();

  /// @return null if there is no memory for the key, or a number instead
  Element* find(std::int64_t key) const {
    if (key < inner_size) return inner_element(key);
    if (key < small_limit) {
      const unsigned block = block_of(key);
      const std::uintptr_t part = find_block(block);
      return part != 0 && !is_numbers(part) ? elements_of(part) + (key - block_first(block)) : nullptr;
    }
    const std::uintptr_t chunk = find_chunk(static_cast<std::uint64_t>(key / chunk_size));
    return chunk != 0 && !is_numbers(chunk) ? elements_of(chunk) + key % chunk_size : nullptr;
  }
  /// Elements that lie one after the other: they stay where they are.
  struct Part {
    Element* elements = nullptr;
    std::int64_t first = 0, end = 0;  ///< keys
    Element* find(std::int64_t key) const { return first <= key && key < end ? elements + (key - first) : nullptr; }
  };
  /// Those around `key`; empty where find() returns null.
  Part part(std::int64_t key) const {
    if (key < inner_size) return {inner_element(0), 0, inner_size};
    if (key < small_limit) {
      const unsigned block = block_of(key);
      const std::uintptr_t part = find_block(block);
      if (part == 0 || is_numbers(part)) return {};
      return {elements_of(part), block_first(block), block_first(block) + block_size(block)};
    }
    const std::uintptr_t chunk = find_chunk(static_cast<std::uint64_t>(key / chunk_size));
    const std::int64_t first = key - key % chunk_size;
    return chunk != 0 && !is_numbers(chunk) ? Part{elements_of(chunk), first, first + chunk_size} : Part{};
  }
  /// The number of `key`, if it lies among numbers: a run of one; else one of none.
  NumberRun find_number(std::int64_t key) const {
    const NumberPart part = number_part(key);
    if (!part.numbers || !part.numbers->has(key - part.first)) return {ValueKind::none, nullptr, 0};
    return part.numbers->run(key - part.first, 1);
  }
  /// The chunk of `key`, which is no small one, if it holds numbers.
  NumberChunk* find_number_chunk(std::int64_t key) const {
    return key < small_limit ? nullptr : number_part(key).numbers;
  }
  /// Makes the block of a small key if needed. @return null if there is a number
  Element* make_small(std::int64_t key);
  /// Makes `numbers` the elements of those blocks of small keys that lie within its keys and are not there yet.
  /// @param first  key  @param visit_rest  (first key, end): those that are to be written otherwise
  template <typename Visit>
  void adopt_small(std::int64_t first, const NumberRun& numbers, const Visit& visit_rest) {
    const std::int64_t end = first + numbers.count;
    std::int64_t rest = first;
    for (unsigned block = 0; block < block_count; ++block) {
      const std::int64_t low = block_first(block), high = low + block_size(block);
      if (low < first || high > end || find_block(block) != 0) continue;
      if (!adopt_block(block, numbers.part(low - first, high - low))) continue;
      if (rest < low) visit_rest(rest, low);
      rest = high;
    }
    if (rest < end) visit_rest(rest, end);
  }
  /// Makes the chunk of `key`. @param outside  marked so if it is made now
  template <typename Keys>
  void make_chunk(std::int64_t key, const Keys& outside) {
    Chunk& place = chunk_place(static_cast<std::uint64_t>(key / chunk_size));
    if (place.load(std::memory_order_acquire)) return;
    Element* chunk = allocate(chunk_size);
    for (const std::int64_t left_out : outside) chunk[left_out % chunk_size].leave_out();
    std::uintptr_t expected = 0;
    if (!place.compare_exchange_strong(expected, reinterpret_cast<std::uintptr_t>(chunk), std::memory_order_acq_rel))
      free(chunk, chunk_size);
  }
  /// Makes `numbers` the chunk of the keys from `first` on. @return false, and does nothing, if there is a chunk
  /// @pre first >= small_limit, first % chunk_size == 0
  bool adopt(std::int64_t first, NumberChunk::Owner& numbers);

  /// Visits all elements but the untouched and the outside ones, by increasing key: visit(std::int64_t, Element&,
  /// ElementMark), and visit_numbers(first key, const NumberRun&).
  template <typename Visit, typename VisitNumbers>
  void visit(const Visit& visit, const VisitNumbers& visit_numbers) const {
    for (std::int64_t key = 0; key < inner_size; ++key) visit_element(key, *inner_element(key), visit);
    for (unsigned block = 0; block < block_count; ++block)
      visit_part(find_block(block), block_first(block), block_size(block), visit, visit_numbers);
    const Levels* levels = find_levels();
    if (!levels) return;
    for (unsigned level = 0; level < level_count; ++level) {
      const Chunk* chunks = (*levels)[level].load(std::memory_order_acquire);
      if (!chunks) continue;
      const std::int64_t count = std::int64_t{1} << level;
      for (std::int64_t i = 0; i < count; ++i) {
        const std::uintptr_t chunk = chunks[i].load(std::memory_order_acquire);
        visit_part(chunk, (count + i) * chunk_size, chunk_size, visit, visit_numbers);
      }
    }
  }

 private:
  static constexpr std::int64_t inner_size = 4;
  static constexpr unsigned block_count = 5;
  static constexpr unsigned level_count = std::bit_width(static_cast<std::uint64_t>(limit / chunk_size)) - 1;
  using Chunk = std::atomic<std::uintptr_t>;  ///< elements, or numbers; 0: none
  using Levels = std::array<std::atomic<Chunk*>, level_count>;
  struct Directory {
    std::array<Chunk, block_count> blocks{};
    std::atomic<Levels*> levels{nullptr};
  };
  static bool is_numbers(std::uintptr_t chunk) { return (chunk & 1) != 0; }
  static Element* elements_of(std::uintptr_t chunk) { return reinterpret_cast<Element*>(chunk); }
  static NumberChunk* numbers_of(std::uintptr_t chunk) { return reinterpret_cast<NumberChunk*>(chunk - 1); }

  static unsigned block_of(std::int64_t key) {
    return static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(key) >> 4));
  }
  static std::int64_t block_first(unsigned block) { return block == 0 ? inner_size : std::int64_t{8} << block; }
  static std::int64_t block_size(unsigned block) { return block == 0 ? 16 - inner_size : std::int64_t{8} << block; }
  Element* inner_element(std::int64_t key) const { return &inner_[static_cast<std::size_t>(key)]; }

  static Element* allocate(std::int64_t size);
  static void free(Element* part, std::int64_t size);
  static void free_part(std::uintptr_t part, std::int64_t size);
  static void publish(Chunk& place, Element* part, std::int64_t size);
  bool adopt_block(unsigned block, const NumberRun& numbers);
  template <typename Visit, typename VisitNumbers>
  static void visit_part(std::uintptr_t part, std::int64_t first, std::int64_t size, const Visit& visit,
                         const VisitNumbers& visit_numbers) {
    if (part == 0) return;
    if (is_numbers(part)) {
      const NumberChunk& numbers = *numbers_of(part);
      for (auto [at, end] = numbers.next_run(0, size); at < size; std::tie(at, end) = numbers.next_run(end, size))
        visit_numbers(first + at, numbers.run(at, end - at));
      return;
    }
    for (std::int64_t i = 0; i < size; ++i) visit_element(first + i, elements_of(part)[i], visit);
  }
  struct NumberPart {
    NumberChunk* numbers = nullptr;
    std::int64_t first = 0;  ///< key
  };
  NumberPart number_part(std::int64_t key) const {
    if (key < inner_size) return {};
    const bool is_small = key < small_limit;
    const unsigned block = is_small ? block_of(key) : 0;
    const std::uintptr_t part = is_small ? find_block(block) : find_chunk(static_cast<std::uint64_t>(key / chunk_size));
    if (!is_numbers(part)) return {};
    return {numbers_of(part), is_small ? block_first(block) : key - key % chunk_size};
  }
  template <typename Visit>
  static void visit_element(std::int64_t key, Element& element, const Visit& visit) {
    // seq_cst: the closer of an array looks for marks here (see Note [Closing] in array.hpp); a plain load on x86
    const ElementMark mark = element.mark(std::memory_order_seq_cst);
    if (mark == ElementMark::awaited || mark == ElementMark::inserted) visit(key, element, mark);
  }

  /// @param number  key / chunk_size, 1 or more
  std::uintptr_t find_chunk(std::uint64_t number) const {
    const Levels* levels = find_levels();
    if (!levels) return 0;
    const unsigned level = static_cast<unsigned>(std::bit_width(number)) - 1;
    const Chunk* chunks = (*levels)[level].load(std::memory_order_acquire);
    return chunks ? chunks[number - (std::uint64_t{1} << level)].load(std::memory_order_acquire) : 0;
  }
  /// @return 0 if it is not made
  std::uintptr_t find_block(unsigned block) const {
    const Directory* directory = directory_.load(std::memory_order_acquire);
    return directory ? directory->blocks[block].load(std::memory_order_acquire) : 0;
  }
  const Levels* find_levels() const {
    const Directory* directory = directory_.load(std::memory_order_acquire);
    return directory ? directory->levels.load(std::memory_order_acquire) : nullptr;
  }
  Directory& directory();  // makes it if needed
  /// Makes the level of chunk `number` if needed.
  Chunk& chunk_place(std::uint64_t number);

  std::atomic<Directory*> directory_{nullptr};
  mutable std::array<Element, inner_size> inner_;  // in an array a cache line of its own
};

}  // namespace raddle::vm
