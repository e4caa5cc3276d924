#include "vm/value/future.hpp"

namespace raddle::vm {

void Future::release_object() { reinterpret_cast<HeapObject*>(bits_.load(std::memory_order_relaxed))->release(); }

bool Future::enlist(Waiter& waiter) {
  std::uintptr_t state = state_.load(std::memory_order_acquire);
  while (!(state & resolved_bit)) {
    if (state == claimed) {  // a setter is between its two steps: a few instructions
      state = state_.load(std::memory_order_acquire);
      continue;
    }
    waiter.next = reinterpret_cast<Waiter*>(state);
    if (state_.compare_exchange_weak(state, reinterpret_cast<std::uintptr_t>(&waiter), std::memory_order_release,
                                     std::memory_order_acquire))
      return true;
  }
  waiter.next = nullptr;
  return false;
}

bool Future::set(Value value, WakeList& wake) {
  std::uintptr_t state = state_.load(std::memory_order_relaxed);
  for (;;) {
    if ((state & resolved_bit) || state == claimed) return false;
    // acquire: the waiters' fields were written by the threads that enlisted them
    if (state_.compare_exchange_weak(state, claimed, std::memory_order_acquire, std::memory_order_relaxed)) break;
  }
  const ValueKind kind = value.kind();
  bits_.store(value.give_up_bits(), std::memory_order_relaxed);  // published by the next line
  state_.store(word_of(kind), std::memory_order_release);
  wake.add(reinterpret_cast<Waiter*>(state));
  return true;
}

}  // namespace raddle::vm
