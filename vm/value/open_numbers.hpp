#pragma once
// The numbers of an array that are being written.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "vm/memory/large_blocks.hpp"
#include "vm/value/buffer.hpp"
#include "vm/value/value.hpp"

namespace raddle::vm {

/// Two bits of each of many numbers: it is claimed by who is about to write it (acq_rel: who claims what another has
/// given back sees what that one wrote), and it is there (seq_cst: see Note [Promises]). They are a thirty-second part
/// of the numbers. Where memory has a limit those of many go, page by page, once all of a page are there: it is told
/// (`unwritten_` is 0) before they do, so who looks at it after he has looked at bits knows whether these still held.
class NumberBits {
 public:
  /// @param is_bounded  memory has a limit
  NumberBits(std::size_t count, bool is_bounded);
  ~NumberBits();
  NumberBits(const NumberBits&) = delete;
  NumberBits& operator=(const NumberBits&) = delete;

  /// Of numbers that lie `distance` apart, 1 at least; those that share a word are claimed, and told of, together.
  /// @return how many could be claimed, from the first one on
  std::size_t claim(std::size_t first, std::size_t count, std::size_t distance = 1);
  void give_back(std::size_t first, std::size_t count, std::size_t distance = 1);
  void set_written(std::size_t first, std::size_t count, std::size_t distance = 1);
  /// @return how many are there, from the first one on
  std::size_t written_from(std::size_t first, std::size_t count) const;

 private:
  using Word = std::atomic<std::uint64_t>;
  bool is_whole(std::size_t word) const {
    return unwritten_ && unwritten_[word / page_words].load(std::memory_order_seq_cst) == 0;
  }
  /// New memory each time takes longer than clearing what there was before.
  bool is_large() const { return 2 * words_ * sizeof(Word) >= LargeBlocks::least_bytes; }
  static constexpr std::size_t page_words = 512, page_numbers = page_words * 64;

  std::size_t words_;        ///< of each kind of bits: whole pages if `unwritten_` is there
  Word* written_ = nullptr;  ///< then those that are claimed
  Word* claimed_ = nullptr;
  std::unique_ptr<std::atomic<std::uint32_t>[]> unwritten_;  ///< of each page; null: no page goes
};

/// Some numbers of an array: rows of `length` that lie `stride` apart, 1 at least; rows begin `distance` apart.
struct NumberRows {
  std::int64_t first = 0, length = 0;
  std::int64_t rows = 1, distance = 0, stride = 1;
  std::int64_t count() const { return length * rows; }
  std::int64_t begin(std::int64_t row) const { return first + row * distance; }
  NumberRows up_to(std::int64_t row) const { return {first, length, row, distance, stride}; }
  NumberRows from(std::int64_t row) const { return {begin(row), length, rows - row, distance, stride}; }
  /// How far apart all numbers lie, if they do so equally; 0: they do not.
  std::int64_t steady() const {
    if (length == 1 && rows > 1) return distance > 0 ? distance : 0;
    return rows <= 1 || distance == length * stride ? stride : 0;
  }
  /// Visits runs of numbers that lie equally far apart: visit(first, count, how far).
  template <typename Visit>
  void each_run(const Visit& visit) const {
    if (const std::int64_t apart = steady(); apart != 0) return visit(first, count(), apart);
    for (std::int64_t row = 0; row < rows; ++row) visit(begin(row), length, stride);
  }
};

/// The numbers 0 to count - 1 of an open array that index launches fill: see Note [Promises] in array.hpp. See
/// NumberBits for what is known of each.
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
  /// @param distance  how far apart they lie, 1 at least
  /// @return how many, from the first one on; the next one is claimed already, or is none of these
  std::size_t claim(std::int64_t first, std::size_t count, std::size_t distance = 1);
  /// The same of whole rows, which may lie anywhere. @return how many rows, from the first one on
  std::int64_t claim_rows(const NumberRows& rows);
  /// Numbers that the caller has claimed and does not write.
  void give_back(std::size_t first, std::size_t count, std::size_t distance = 1);
  void give_back_rows(const NumberRows& rows);
  /// Numbers that the caller has claimed are there, in numbers().
  void set_written(const NumberRows& rows);
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
  NumberBits& bits();
  /// How many numbers from `key` on there are at all, at most `count`.
  std::size_t inside(std::int64_t key, std::size_t count, std::size_t distance = 1) const;

  const ValueKind kind_;
  const std::size_t count_;
  bool are_of_one_ = false;
  std::atomic<bool> are_all_written_{false};  ///< by one part: instead of their bits (seq_cst)
  std::atomic<std::size_t> missing_;          ///< lessened by who has written (release); read by who closes the array
  std::atomic<std::size_t> promised_{0};      ///< each launch adds what it is to write, once
  std::mutex making_;
  Buffer::Owner own_numbers_;             ///< made under `making_`, published with `numbers_`
  std::unique_ptr<NumberBits> own_bits_;  ///< likewise, with `bits_`
  std::atomic<Buffer*> numbers_{nullptr};
  std::atomic<NumberBits*> bits_{nullptr};  ///< seq_cst
};

}  // namespace raddle::vm
