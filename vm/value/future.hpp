#pragma once
// A single-assignment variable: empty with waiters, set, or failed (set to a Failure). 16 bytes, lies inline in its
// frame, array or structure.
#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "vm/value/value.hpp"

namespace raddle::vm {

class Worker;  // vm/schedule/worker_pool.hpp

/// Something that wants to know when a future is resolved. Lies in whoever waits (a frame, a deep wait); enlisted with
/// at most one future at a time, and must live until resolved() was called.
class Waiter {
 public:
  virtual void resolved(Worker& worker) = 0;
  /// What has waited longer for the same variable is to run before it: see WakeList.
  virtual bool yields_to_older() const { return false; }
  Waiter* next = nullptr;  ///< owned by the future's list while enlisted, then by the WakeList

 protected:
  ~Waiter() = default;
};

/// Waiters taken from resolved futures, to be told by the worker once no lock is held. Those of one future are told the
/// oldest first, and a worker runs first what it has queued last: the youngest. But if that is a launch, it is told
/// first: else what ends an iteration would lie below all that the launches of the next ones do, and arrays would live
/// on.
class WakeList {
 public:
  void add(Waiter* list) {
    if (!list) return;
    if (list->yields_to_older()) {
      (last_ ? last_->next : head_) = list;
      for (last_ = list; last_->next;) last_ = last_->next;
      return;
    }
    if (!last_) last_ = list;  // the youngest one of these comes last
    while (list) {
      Waiter* const rest = list->next;
      list->next = head_;
      head_ = list;
      list = rest;
    }
  }
  /// Calls resolved() on each; a waiter may be gone afterwards. Waking may resolve further futures: those make their
  /// own lists.
  void wake_all(Worker& worker) {
    while (head_) {
      Waiter* waiter = head_;
      head_ = waiter->next;
      if (!head_) last_ = nullptr;
      waiter->next = nullptr;
      waiter->resolved(worker);
    }
  }
  /// Puts them into another order. @param next  makes random numbers
  template <typename Next>
  void shuffle(const Next& next) {
    std::vector<Waiter*> waiters;
    for (Waiter* waiter = head_; waiter; waiter = waiter->next) waiters.push_back(waiter);
    head_ = nullptr;
    for (std::size_t left = waiters.size(); left > 0; --left) {
      std::swap(waiters[next() % left], waiters[left - 1]);
      waiters[left - 1]->next = head_;
      head_ = waiters[left - 1];
    }
    last_ = waiters.empty() ? nullptr : waiters.back();
  }
  bool empty() const { return head_ == nullptr; }

 private:
  Waiter *head_ = nullptr, *last_ = nullptr;
};

/// Protocol of state_: written by enlisting readers (they push onto the waiter list by CAS) and by the one setter.
///   even            empty; the first waiter (0: none). Bits 1 and 2 are free for elements of arrays (element.hpp):
///                   enlisting leaves them as they are
///   claimed (6)     a setter has won and writes bits_; nobody enlists or sets meanwhile
///   odd             resolved for ever; bits 1..8 hold the ValueKind, bits 9 and 10 are the elements', too
/// The setter claims by CAS (acquire: takes the waiters' fields), writes bits_, stores the resolved word with release;
/// readers load state_ with acquire and read bits_ only if it is odd.
class Future {
 public:
  Future() = default;
  Future(const Future&) = delete;
  Future& operator=(const Future&) = delete;
  ~Future() {
    // the last owner destroys it: no other thread looks any more
    if (holds_object(state_.load(std::memory_order_relaxed))) release_object();
  }

  bool is_resolved() const { return (state_.load(std::memory_order_acquire) & 1) != 0; }
  bool is_failed() const {
    const std::uintptr_t state = state_.load(std::memory_order_acquire);
    return (state & 1) != 0 && static_cast<ValueKind>(state >> 1 & 0xff) == ValueKind::failure;
  }
  /// Kind of a resolved future.
  ValueKind kind() const { return static_cast<ValueKind>((state_.load(std::memory_order_acquire) >> 1) & 0xff); }
  /// A copy (shares heap objects); none if not resolved.
  Value get() const {
    const std::uintptr_t state = state_.load(std::memory_order_acquire);
    if ((state & 1) == 0) return {};
    const std::uint64_t bits = bits_.load(std::memory_order_relaxed);
    if (holds_object(state)) reinterpret_cast<HeapObject*>(bits)->retain();
    return Value::from_bits(static_cast<ValueKind>(state >> 1 & 0xff), bits);
  }
  /// @return true, and its bits without counting a reference, if it is set to a value of this kind
  bool holds(ValueKind kind, std::uint64_t& bits) const {
    if ((state_.load(std::memory_order_acquire) & word_bits) != word_of(kind)) return false;
    bits = bits_.load(std::memory_order_relaxed);
    return true;
  }
  /// Bits of a resolved future without counting a reference: valid as long as the future is.
  std::uint64_t peek() const { return bits_.load(std::memory_order_relaxed); }

  /// @return false if it is resolved already: the waiter was not enlisted and will not be called.
  bool enlist(Waiter& waiter);

  /// Sets the value (or failure) and hands the waiters over.
  /// @return false if it was resolved already or another thread is setting it: the value is dropped (a double
  ///         assignment, to be reported by the caller)
  bool set(Value value, WakeList& wake) { return set(std::move(value), wake, claimed, 0); }
  /// Sets the value while no other thread knows the future: no locked instruction. Whoever shares it publishes it.
  void init(Value value) {
    state_.store(word_of(value.kind()), std::memory_order_relaxed);
    bits_.store(value.give_up_bits(), std::memory_order_relaxed);
  }

 protected:
  static constexpr std::uintptr_t resolved_bit = 1;
  static constexpr std::uintptr_t free_bits = 6;  ///< of an empty one
  static constexpr std::uintptr_t claimed = 6;
  static constexpr std::uintptr_t word_bits = 0x1ff;  ///< of a resolved one
  static constexpr std::uintptr_t word_of(ValueKind kind) {
    return static_cast<std::uintptr_t>(kind) << 1 | resolved_bit;
  }
  /// @param refused  not if the free bits are these  @param flags  of the resolved word, besides the kind
  bool set(Value&& value, WakeList& wake, std::uintptr_t refused, std::uintptr_t flags) {
    std::uintptr_t state = 0;  // mostly it is: to look first would fetch the cache line twice
    // acquire: the waiters' fields were written by the threads that enlisted them
    while (!state_.compare_exchange_weak(state, claimed, std::memory_order_acquire, std::memory_order_relaxed))
      if ((state & resolved_bit) != 0 || state == claimed || (state & free_bits) == refused) return false;
    const ValueKind kind = value.kind();
    bits_.store(value.give_up_bits(), std::memory_order_relaxed);  // published by the next line
    state_.store(word_of(kind) | flags, std::memory_order_release);
    wake.add(waiters_of(state));
    return true;
  }

  std::atomic<std::uintptr_t> state_{0};

 private:
  static_assert(alignof(Waiter) > free_bits, "the bits are free in a waiter's address");
  static Waiter* waiters_of(std::uintptr_t state) { return reinterpret_cast<Waiter*>(state & ~free_bits); }
  static bool holds_object(std::uintptr_t state) {
    return (state & 1) != 0 && static_cast<ValueKind>(state >> 1 & 0xff) >= ValueKind::string;
  }
  void release_object();
  std::atomic<std::uint64_t> bits_{0};  // relaxed throughout: ordered by state_
};

}  // namespace raddle::vm
