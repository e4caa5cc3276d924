#include "vm/value/bag.hpp"

namespace raddle::vm {

Bag::Bag(std::int32_t writers) : writers_(writers) {
  WakeList nobody;
  if (writers == 0) closed_.set(Value::of_void(), nobody);
}

Future& Bag::append() {
  const std::lock_guard lock(mutex_);
  return elements_.emplace_back();
}

std::size_t Bag::size() const {
  const std::lock_guard lock(mutex_);
  return elements_.size();
}

void Bag::for_each(const std::function<void(const Value&)>& visit) const {
  for (const Future& element : elements_) visit(element.get());
}

void Bag::for_each_future(const std::function<void(Future&)>& visit) {
  for (Future& element : elements_) visit(element);
}

void Bag::release_writers(std::int32_t count, WakeList& wake) {
  // acq_rel: the last writer sees the others' appends
  if (writers_.fetch_sub(count, std::memory_order_acq_rel) != count) return;
  closed_.set(failure_.is_failed() ? failure_.get() : Value::of_void(), wake);
}

}  // namespace raddle::vm
