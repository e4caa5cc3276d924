#pragma once
// Bags: unordered, appended to by many writers, closed when the last one has released it.
#include <atomic>
#include <deque>
#include <functional>
#include <mutex>

#include "vm/value/future.hpp"
#include "vm/value/value.hpp"

namespace raddle::vm {

class Bag final : public HeapObject {
 public:
  /// @param writers  0: closed at once
  explicit Bag(std::int32_t writers);
  /// A new element's future, to be set by the caller; valid as long as the bag. By whoever holds a writer.
  Future& append();
  std::size_t size() const;
  Future& closed() { return closed_; }
  bool is_closed() const { return closed_.is_resolved(); }
  /// A writer could not write: the bag will close with the first such failure. By a writer, before it is released.
  void fail(const Value& failure) {
    WakeList nobody;
    failure_.set(failure, nobody);
  }
  /// Closed bags; `value` is none where it is not set yet.
  void for_each(const std::function<void(const Value& value)>& visit) const;
  void for_each_future(const std::function<void(Future&)>& visit);
  void add_writers(std::int32_t count) { writers_.fetch_add(count, std::memory_order_relaxed); }  // a writer is held
  void release_writers(std::int32_t count, WakeList& wake);

  /// Of an array's element that was made by appending to it: the array that is to close it, until then.
  std::atomic<const HeapObject*> parent{nullptr};

 private:
  mutable std::mutex mutex_;     // guards elements_' shape, not the futures
  std::deque<Future> elements_;  // a deque: elements never move
  std::atomic<std::int32_t> writers_;
  Future failure_;  // of the first writer that failed; looked at when no writer is left
  Future closed_;
};

inline Bag& Value::as_bag() const { return *static_cast<Bag*>(object()); }

}  // namespace raddle::vm
