#pragma once
// Parts of an object that are made when they are first needed.
#include <atomic>
#include <memory>

namespace raddle::vm {

/// What `place` points to, made if there is nothing. Any thread: published by CAS (release; readers acquire), the loser
/// of a race deletes his own. Whoever owns `place` deletes it.
template <typename T>
T& made_once(std::atomic<T*>& place) {
  T* there = place.load(std::memory_order_acquire);
  if (!there) {
    auto made = std::make_unique<T>();
    if (place.compare_exchange_strong(there, made.get(), std::memory_order_acq_rel)) there = made.release();
  }
  return *there;
}

}  // namespace raddle::vm
