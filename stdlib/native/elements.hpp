#pragma once
// Closed arrays as vectors, and back.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "vm/value/array.hpp"
#include "vm/value/value.hpp"

namespace raddle::stdlib::native {

/// Values in the array's order: int keys increasing. The keys are dropped.
inline std::vector<vm::Value> elements(const vm::Value& array) {
  std::vector<vm::Value> values;
  values.reserve(array.as_array().size());
  array.as_array().for_each([&](const vm::Value&, const vm::Value& value) { values.push_back(value); });
  return values;
}

/// Calls `visit` with each element of an array of ints (T = std::int64_t) or floats (T = double), in order. Numbers
/// that lie together in memory, as most do, cost nothing an element.
template <typename T, typename Visit>
void visit_numbers(const vm::Value& array, Visit visit) {
  array.as_array().for_each_run([&visit](const void* numbers, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) visit(static_cast<const T*>(numbers)[i]);
  });
}

/// The same numbers as a vector.
template <typename T>
std::vector<T> numbers(const vm::Value& array) {
  std::vector<T> all;
  all.reserve(array.as_array().size());
  array.as_array().for_each_run([&all](const void* run, std::size_t count) {
    all.insert(all.end(), static_cast<const T*>(run), static_cast<const T*>(run) + count);
  });
  return all;
}

/// A closed array of ints or floats with keys 0..n-1.
template <typename T>
vm::Value number_array(std::vector<T> numbers) {
  return vm::Value::of_object(vm::ValueKind::array, vm::Array::packed_of(std::move(numbers)));
}

/// A closed array with keys 0..n-1.
inline vm::Value dense_array(std::vector<vm::Value> values) {
  return vm::Value::of_object(vm::ValueKind::array, vm::Array::dense(std::move(values)));
}
inline vm::Value string_array(std::vector<std::string> texts) {
  std::vector<vm::Value> values;
  values.reserve(texts.size());
  for (std::string& text : texts) values.push_back(vm::Value::of(std::move(text)));
  return dense_array(std::move(values));
}

/// What lies between two numbers by that part of the way, from 0 to 1. Only between two infinities of different signs
/// there is nothing.
inline double between(double low, double high, double part) {
  if (part == 0 || low == high) return low;
  if (std::isinf(low) != std::isinf(high)) return std::isinf(low) ? low : high;
  if (std::isinf(high - low)) return low * (1 - part) + high * part;  // NaN, or their difference is too large
  return part < 0.5 ? low + (high - low) * part : high - (high - low) * (1 - part);
}

}  // namespace raddle::stdlib::native
