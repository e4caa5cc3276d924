#include "vm/interpret/writers.hpp"

#include <utility>

#include "vm/interpret/run_worker.hpp"
#include "vm/value/borrow.hpp"

namespace raddle::vm {

void Writers::add(Future& array, std::uint32_t count) {
  if (count == 0 || array.is_failed()) return;
  const auto added = static_cast<std::int32_t>(count);
  if (array.kind() == ValueKind::array)
    object_in<Array>(array).add_writers(added);
  else
    object_in<Bag>(array).add_writers(added);
}

void Writers::add(Frame& frame, const std::vector<Operand>& arrays) {
  for (const Operand array : arrays) add(frame.at(array), 1);
}

void Writers::add(Frame& frame, const std::vector<WriterShare>& shares) {
  for (const WriterShare& share : shares) add(frame.at(share.array), share.writers);
}

void Writers::release(Future& array, std::uint32_t count) {
  if (count == 0 || array.is_failed()) return;
  const auto released = static_cast<std::int32_t>(count);
  // closing may resolve what keeps the array's frame alive: the object must outlast the call
  const Value keep = array.get();
  if (array.kind() == ValueKind::array)
    keep.as_array().release_writers(released, here_.wakes());
  else
    keep.as_bag().release_writers(released, here_.wakes());
  here_.wake();
}

void Writers::release(Frame& frame, Operand array) {
  Future& released = frame.at(array);
  for (std::size_t i = own_; i < released_.size(); ++i) {
    if (released_[i].array == &released) {
      ++released_[i].count;
      return;
    }
  }
  release(released, 1);
}

void Writers::release(Frame& frame, const std::vector<Operand>& arrays) {
  for (const Operand array : arrays) release(frame, array);
}

void Writers::fail(Frame& frame, Operand array, const Value& failure) {
  Future& variable = frame.at(array);
  if (variable.is_failed()) return;
  if (variable.kind() == ValueKind::array)
    object_in<Array>(variable).fail(failure);
  else
    object_in<Bag>(variable).fail(failure);
  release(variable, 1);
}

void Writers::fail(Frame& frame, const std::vector<Operand>& arrays, const Value& failure) {
  for (const Operand array : arrays) fail(frame, array, failure);
}

std::size_t Writers::open(Frame& frame, const std::vector<WriterShare>& shares, std::int64_t count) {
  const std::size_t outer = std::exchange(own_, released_.size());
  for (const WriterShare& share : shares) {
    Future& array = frame.at(share.array);
    add(array, share.writers * static_cast<std::uint32_t>(count));
    released_.push_back({&array, 0});
  }
  return outer;
}

void Writers::close(std::size_t outer) {
  const std::size_t own = std::exchange(own_, released_.size());  // what is woken here finds none of them
  for (std::size_t i = own; i < released_.size(); ++i) release(*released_[i].array, released_[i].count);
  released_.resize(own);
  own_ = outer;
}

}  // namespace raddle::vm
