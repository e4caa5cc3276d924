#pragma once
// The numbers of an array, one after the other.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "vm/memory/bounded_memory.hpp"
#include "vm/memory/shared_blocks.hpp"
#include "vm/value/value.hpp"

namespace raddle::vm {

inline bool is_number(ValueKind kind) {
  return kind == ValueKind::int_ || kind == ValueKind::float_ || kind == ValueKind::boolean;
}

/// @param number  the word of leaf_abi.hpp
inline void set_number(void* numbers, ValueKind kind, std::size_t index, std::int64_t number) {
  if (kind == ValueKind::boolean)
    static_cast<std::uint8_t*>(numbers)[index] = number != 0;
  else
    static_cast<std::int64_t*>(numbers)[index] = number;
}

/// Contiguous storage of `count` numbers of one kind: int64_t, double, or uint8_t for boolean. What native code reads
/// and writes in place. Threads: whoever writes a part is the only one to use it until others have been told.
class Buffer {
 public:
  static constexpr std::size_t alignment = 64;  ///< bytes: a cache line, and the widest vector
  struct Free {
    void operator()(Buffer* buffer) const;
  };
  using Owner = std::unique_ptr<Buffer, Free>;
  /// Not initialised. @param kind  int_, float_ or boolean
  /// @error std::bad_alloc
  static Owner make(ValueKind kind, std::size_t count) { return make(kind, count, /*is_whole=*/true); }
  /// The same, written part by part: claims tell of each before it is written (begin_write()), and when it has been.
  static Owner make_open(ValueKind kind, std::size_t count) { return make(kind, count, /*is_whole=*/false); }

  static std::size_t size_of(ValueKind kind) { return kind == ValueKind::boolean ? 1 : 8; }

  ValueKind kind() const { return kind_; }
  std::size_t count() const { return count_; }
  /// What no other buffer has or has had, for who keeps copies of it: FreedBuffers tells when it is gone. Any thread.
  std::uint64_t number();
  void* at_index(std::size_t index) { return bytes() + index * size_of(kind_); }
  const void* data() const { return reinterpret_cast<const std::byte*>(this) + header_bytes; }
  Value at(std::size_t index) const;
  /// @param number  of this buffer's kind
  void set(std::size_t index, const Value& number);
  /// The word of leaf_abi.hpp.
  std::int64_t word(std::size_t index) const {
    if (kind_ == ValueKind::boolean) return static_cast<const std::uint8_t*>(data())[index];
    return static_cast<const std::int64_t*>(data())[index];
  }

  /// Where it lies for other processes; none: it lies where they can not see it. The numbers begin `header_bytes`
  /// further.
  std::optional<std::int64_t> shared_offset() const {
    return shared_offset_ < 0 ? std::nullopt : std::optional(shared_offset_);
  }
  static constexpr std::size_t header_bytes = alignment;

  // ---- where memory has a limit, else nothing is done: see BoundedMemory
  void begin_write(std::size_t first, std::size_t count) {
    if (block_) BoundedMemory::get()->begin_write(*block_, offset_of(first), count * size_of(kind_));
  }
  void wrote(std::size_t first, std::size_t count) {
    if (block_) BoundedMemory::get()->wrote(*block_, offset_of(first), count * size_of(kind_));
  }
  /// All has been written.
  void close() {
    if (block_) BoundedMemory::get()->close(*block_);
  }
  /// These numbers are about to be read.
  void use(std::size_t first, std::size_t count) const {
    if (block_) BoundedMemory::get()->use(*block_, offset_of(first), count * size_of(kind_));
  }
  void use() const { use(0, count_); }
  /// All are about to be read, in any order. Those that would take much of the memory come as they are read.
  void use_if_small() const {
    if (block_ && count_ * size_of(kind_) <= BoundedMemory::get()->limit_bytes() / 4) use();
  }

 private:
  static Owner make(ValueKind kind, std::size_t count, bool is_whole);
  Buffer(ValueKind kind, std::size_t count, BoundedMemory::Block* block, std::int64_t shared_offset = -1)
      : kind_(kind), count_(count), block_(block), shared_offset_(shared_offset) {}
  std::size_t offset_of(std::size_t index) const { return header_bytes + index * size_of(kind_); }
  std::byte* bytes() { return reinterpret_cast<std::byte*>(this) + header_bytes; }

  const ValueKind kind_;
  const std::size_t count_;
  BoundedMemory::Block* const block_;     ///< null: the memory is none of those that may go to a file
  const std::int64_t shared_offset_;      ///< of SharedBlocks; negative: it is none of these
  std::atomic<std::uint64_t> number_{0};  ///< 0: nobody has asked for it. Relaxed: it says nothing of the contents
};

/// The numbers 0 to count - 1 of an open array that index launches fill: see Note [Promises] in array.hpp. Each has two
/// bits: it is claimed by who is about to write it, and it is there.
class OpenNumbers {
 public:
  OpenNumbers(ValueKind kind, std::size_t count) : kind_(kind), count_(count), missing_(count) {}

  std::size_t count() const { return count_; }
  ValueKind kind() const { return kind_; }
  /// Memory is taken by whoever comes first.
  Buffer& numbers();
  /// Null before numbers() was called. Lives as long as this.
  Buffer* storage() const { return numbers_.load(std::memory_order_acquire); }

  /// One launch is about to write all of them, each once: nobody need claim any, unless somebody has done so already.
  /// By who holds the only writer.
  void give_to_one() { are_of_one_ = !bits_.load(std::memory_order_acquire) && written_count() == 0; }
  /// Claims numbers that the caller is about to write.
  /// @return how many, from the first one on; the next one is claimed already, or is none of these
  std::size_t claim(std::int64_t first, std::size_t count);
  /// Numbers that the caller has claimed and does not write.
  void give_back(std::size_t first, std::size_t count);
  /// Numbers that the caller has claimed are there, in numbers().
  void set_written(std::size_t first, std::size_t count);
  bool is_written(std::int64_t key) const { return written_from(key, 1) == 1; }
  /// How many numbers from `key` on are there, at most `count`.
  std::int64_t written_from(std::int64_t key, std::int64_t count) const;
  /// @pre is_written(key)
  Value at(std::int64_t key) const { return storage()->at(static_cast<std::size_t>(key)); }
  std::int64_t word(std::int64_t key) const { return storage()->word(static_cast<std::size_t>(key)); }
  std::size_t written_count() const { return count_ - missing_.load(std::memory_order_acquire); }

  /// So many numbers more are promised.
  void promise(std::size_t count) { promised_.fetch_add(count, std::memory_order_acq_rel); }
  bool is_promised() const { return promised_.load(std::memory_order_acquire) == count_; }

 private:
  using Bits = std::atomic<std::uint64_t>;
  /// Words of bits: whether numbers are there, then whether they are claimed (acq_rel: who claims what another has
  /// given back sees what that one wrote).
  Bits* bits();
  Bits* claimed() { return bits() + words(); }
  std::size_t words() const { return (count_ + 63) / 64; }

  const ValueKind kind_;
  const std::size_t count_;
  bool are_of_one_ = false;
  std::atomic<bool> are_all_written_{false};  ///< by one part: instead of their bits (seq_cst)
  std::atomic<std::size_t> missing_;          ///< lessened by who has written (release); read by who closes the array
  std::atomic<std::size_t> promised_{0};      ///< each launch adds what it is to write, once
  std::mutex making_;
  Buffer::Owner own_numbers_;         ///< made under `making_`, published with `numbers_`
  std::unique_ptr<Bits[]> own_bits_;  ///< likewise, with `bits_`
  std::atomic<Buffer*> numbers_{nullptr};
  std::atomic<Bits*> bits_{nullptr};  ///< seq_cst
};

}  // namespace raddle::vm
