#pragma once
// Elements for tests of arrays.
#include <doctest/doctest.h>

#include <cstdint>
#include <utility>

#include "vm/value/array.hpp"

namespace raddle::vm {

inline Value key(std::int64_t value) { return Value::of(value); }

inline void put(Array& array, const Value& at, Value value) {
  WakeList nobody;
  Future* element = array.insert(at);
  REQUIRE(element != nullptr);
  CHECK(element->set(std::move(value), nobody));
}

}  // namespace raddle::vm
