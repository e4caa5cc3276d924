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
    waiter.next = waiters_of(state);
    const std::uintptr_t enlisted = reinterpret_cast<std::uintptr_t>(&waiter) | (state & free_bits);
    if (state_.compare_exchange_weak(state, enlisted, std::memory_order_release, std::memory_order_acquire))
      return true;
  }
  waiter.next = nullptr;
  return false;
}

bool Future::set(Value&& value, WakeList& wake, std::uintptr_t refused, std::uintptr_t flags) {
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

}  // namespace raddle::vm
