#pragma once
// The object in a resolved future, without counting a reference: valid as long as the future is.
#include "vm/value/array.hpp"
#include "vm/value/bag.hpp"
#include "vm/value/file.hpp"
#include "vm/value/future.hpp"
#include "vm/value/structure.hpp"

namespace raddle::vm {

template <typename T>
T& object_in(const Future& future) {
  return *static_cast<T*>(reinterpret_cast<HeapObject*>(future.peek()));
}

/// What says that the content of a set variable is complete; null if there is nothing to wait for.
inline Future* closing_of(const Future& variable) {
  const ValueKind kind = variable.kind();
  if (kind == ValueKind::array) return &object_in<Array>(variable).closed();
  if (kind == ValueKind::bag) return &object_in<Bag>(variable).closed();
  return kind == ValueKind::file ? &object_in<File>(variable).complete() : nullptr;
}

}  // namespace raddle::vm
