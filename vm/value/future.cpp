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

}  // namespace raddle::vm
