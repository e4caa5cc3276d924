#pragma once
// The numbers of an array, one after the other.
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "vm/memory/bounded_memory.hpp"
#include "vm/memory/shared_blocks.hpp"
#include "vm/value/value.hpp"

namespace raddle::vm {

/// Elements of a buffer are of the type that its kind stands for: int64_t, double, uint8_t for boolean, int32_t, float.
inline bool is_number(ValueKind kind) { return kind >= ValueKind::int_ && kind <= ValueKind::float32; }

inline std::size_t size_of_number(ValueKind kind) {
  if (kind == ValueKind::boolean) return 1;
  return kind == ValueKind::int32 || kind == ValueKind::float32 ? 4 : 8;
}

/// @param number  the word of leaf_abi.hpp
inline void set_number(void* numbers, ValueKind kind, std::size_t index, std::int64_t number) {
  if (kind == ValueKind::boolean)
    static_cast<std::uint8_t*>(numbers)[index] = number != 0;
  else if (kind == ValueKind::int32)
    static_cast<std::int32_t*>(numbers)[index] = static_cast<std::int32_t>(number);
  else if (kind == ValueKind::float32)
    static_cast<float*>(numbers)[index] = static_cast<float>(std::bit_cast<double>(number));
  else
    static_cast<std::int64_t*>(numbers)[index] = number;
}

/// @return the word of leaf_abi.hpp, which is what the bits of a Value are
inline std::int64_t number_at(const void* numbers, ValueKind kind, std::size_t index) {
  if (kind == ValueKind::boolean) return static_cast<const std::uint8_t*>(numbers)[index] != 0;
  if (kind == ValueKind::int32) return static_cast<const std::int32_t*>(numbers)[index];
  if (kind == ValueKind::float32)
    return std::bit_cast<std::int64_t>(static_cast<double>(static_cast<const float*>(numbers)[index]));
  return static_cast<const std::int64_t*>(numbers)[index];
}

class MappedFile;

/// Contiguous storage of `count` numbers of one kind. What native code reads and writes in place. Threads: whoever
/// writes a part is the only one to use it until others have been told.
class Buffer {
 public:
  static constexpr std::size_t alignment = 64;  ///< bytes: a cache line, and the widest vector
  struct Free {
    void operator()(Buffer* buffer) const;
  };
  using Owner = std::unique_ptr<Buffer, Free>;
  /// Not initialised. @param kind  a number's
  /// @error std::bad_alloc
  static Owner make(ValueKind kind, std::size_t count) { return make(kind, count, /*is_whole=*/true); }
  /// The same, written part by part: claims tell of each before it is written (begin_write()), and when it has been.
  static Owner make_open(ValueKind kind, std::size_t count) { return make(kind, count, /*is_whole=*/false); }

  /// Numbers of a file, as they lie there. @param begin  where, in bytes: a multiple of `alignment`
  /// @pre the file has them all
  static Owner of_file(ValueKind kind, std::size_t count, std::unique_ptr<MappedFile> file, std::size_t begin);

  static std::size_t size_of(ValueKind kind) { return size_of_number(kind); }

  ValueKind kind() const { return kind_; }
  std::size_t count() const { return count_; }
  /// What no other buffer has or has had, for who keeps copies of it: FreedBuffers tells when it is gone. Any thread.
  std::uint64_t number();
  void* at_index(std::size_t index) { return numbers_ + index * size_of(kind_); }
  const void* data() const { return numbers_; }
  Value at(std::size_t index) const { return Value::from_bits(kind_, static_cast<std::uint64_t>(word(index))); }
  /// @param number  of this buffer's kind
  void set(std::size_t index, const Value& number) {
    set_number(numbers_, kind_, index, static_cast<std::int64_t>(number.bits()));
  }
  /// The word of leaf_abi.hpp.
  std::int64_t word(std::size_t index) const { return number_at(numbers_, kind_, index); }

  /// Where it lies for other processes; none: it lies where they can not see it. The numbers begin `header_bytes`
  /// further.
  std::optional<std::int64_t> shared_offset() const {
    return shared_offset_ < 0 ? std::nullopt : std::optional(shared_offset_);
  }
  static constexpr std::size_t header_bytes = alignment;  ///< before the numbers, if these are in no block

  // ---- where memory has a limit, else nothing is done: see BoundedMemory
  void begin_write(std::size_t first, std::size_t count) {
    if (block_) BoundedMemory::get()->begin_write(*block_, first * size_of(kind_), count * size_of(kind_));
  }
  void wrote(std::size_t first, std::size_t count) {
    if (block_) BoundedMemory::get()->wrote(*block_, first * size_of(kind_), count * size_of(kind_));
  }
  /// null: it is none of those that may go.
  BoundedMemory::Block* block() const { return block_; }
  /// All has been written.
  void close() {
    if (block_) BoundedMemory::get()->close(*block_);
  }
  /// These numbers are about to be read.
  void use(std::size_t first, std::size_t count) const {
    if (block_) BoundedMemory::get()->use(*block_, first * size_of(kind_), count * size_of(kind_));
  }
  void use() const { use(0, count_); }
  /// All will be read soon.
  void announce() const {
    if (block_) BoundedMemory::get()->announce(*block_);
  }
  /// Code that knows nothing of this memory is about to read or write them: BoundedMemory::lend().
  void lend() {
    if (block_) BoundedMemory::get()->lend(*block_);
  }
  void end_lending() {
    if (block_) BoundedMemory::get()->end_lending(*block_);
  }
  /// All are about to be read, in any order. Those that would take much of the memory come as they are read.
  void use_if_small() const {
    if (block_ && count_ * size_of(kind_) <= BoundedMemory::get()->limit_bytes() / 4) use();
  }

 private:
  static Owner make(ValueKind kind, std::size_t count, bool is_whole);
  Buffer(ValueKind kind, std::size_t count, std::byte* numbers, BoundedMemory::Block* block,
         std::int64_t shared_offset = -1, MappedFile* file = nullptr)
      : kind_(kind), count_(count), numbers_(numbers), block_(block), shared_offset_(shared_offset), file_(file) {}

  const ValueKind kind_;
  const std::size_t count_;
  std::byte* const numbers_;
  BoundedMemory::Block* const block_;     ///< null: the memory is none of those that may go to a file
  const std::int64_t shared_offset_;      ///< of SharedBlocks; negative: it is none of these
  MappedFile* const file_;                ///< owned; null: the numbers are in memory
  std::atomic<std::uint64_t> number_{0};  ///< 0: nobody has asked for it. Relaxed: it says nothing of the contents
};

}  // namespace raddle::vm
