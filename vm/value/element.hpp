#pragma once
// An element of an array: its future, and what the array knows of its key, in one word.
#include <atomic>
#include <cstdint>
#include <utility>

#include "vm/value/future.hpp"

namespace raddle::vm {

/// What an array knows of a key.
enum class ElementMark : std::uint8_t {
  untouched,
  awaited,   ///< read before it was inserted, or never inserted: then it has failed
  inserted,  ///< its future is set, or will be by whoever inserted it
  outside,   ///< the element lies elsewhere: see ElementTable
};

/// The mark lies in the future's word: who writes an element touches nothing but its 16 bytes, once. While the future
/// is empty it is in the two free bits; a resolved one is inserted, unless bit 9 says that it is missing; bit 10 says
/// that it is a row; a word that is resolved to nothing is outside.
class Element final : public Future {
 public:
  /// seq_cst where Note [Closing] in array.hpp asks for it
  ElementMark mark(std::memory_order order = std::memory_order_acquire) const {
    for (;;) {
      const std::uintptr_t state = state_.load(order);
      if (state == claimed) continue;  // a setter is between its two steps: a few instructions
      if (state == outside_word) return ElementMark::outside;
      if ((state & resolved_bit) != 0)
        return (state & missing_flag) != 0 ? ElementMark::awaited : ElementMark::inserted;
      return static_cast<ElementMark>((state & free_bits) >> 1);
    }
  }
  /// Returns when no setter is between its two steps.
  void settle() const { static_cast<void>(mark()); }
  bool is_inserted() const { return mark() == ElementMark::inserted; }
  bool holds_number() const { return is_resolved() && kind() < ValueKind::string; }
  bool is_outside() const { return state_.load(std::memory_order_acquire) == outside_word; }

  /// Untouched ones are awaited from now on. @return the mark that it has
  ElementMark await() {
    std::uintptr_t state = 0;
    while (!state_.compare_exchange_weak(state, awaited_bits, std::memory_order_seq_cst))
      if (state != 0) return mark();
    return ElementMark::awaited;
  }
  /// @return false: it is inserted already
  bool insert() {
    std::uintptr_t state = 0;
    std::uintptr_t inserted = inserted_bits;
    while (!state_.compare_exchange_weak(state, inserted, std::memory_order_acq_rel)) {
      if ((state & resolved_bit) != 0 || (state & free_bits) == inserted_bits || state == claimed) return false;
      inserted = (state & ~free_bits) | inserted_bits;
    }
    return true;
  }
  /// Holds a row: an array that was made here, to be closed with the array around it.
  bool holds_row(std::uint64_t& bits) const {
    if (state_.load(std::memory_order_acquire) != (word_of(ValueKind::array) | row_flag)) return false;
    bits = peek();
    return true;
  }
  /// insert() and set(). @return false, and does nothing, if it is inserted already
  bool insert(Value value, WakeList& wake) { return Future::set(std::move(value), wake, inserted_bits, 0); }
  bool insert_row(Value row, WakeList& wake) { return Future::set(std::move(row), wake, inserted_bits, row_flag); }
  /// Fails without being inserted.
  void miss(Value failure, WakeList& wake) { Future::set(std::move(failure), wake, inserted_bits, missing_flag); }
  /// Before anybody else knows it.
  void leave_out() { state_.store(outside_word, std::memory_order_relaxed); }

 private:
  static constexpr std::uintptr_t awaited_bits = static_cast<std::uintptr_t>(ElementMark::awaited) << 1;
  static constexpr std::uintptr_t inserted_bits = static_cast<std::uintptr_t>(ElementMark::inserted) << 1;
  static constexpr std::uintptr_t missing_flag = std::uintptr_t{1} << 9;
  static constexpr std::uintptr_t row_flag = std::uintptr_t{1} << 10;
  static constexpr std::uintptr_t outside_word = word_of(ValueKind::none);
};

}  // namespace raddle::vm
