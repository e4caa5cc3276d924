#pragma once
// The types that elements of dense arrays have, by those of C++.
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "vm/value/array.hpp"

namespace raddle::stdlib::native {

/// Of `bool` a byte.
template <typename T>
using ElementOf = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;

template <typename T>
constexpr vm::ValueKind kind_of = std::is_same_v<T, double>         ? vm::ValueKind::float_
                                  : std::is_same_v<T, float>        ? vm::ValueKind::float32
                                  : std::is_same_v<T, std::int32_t> ? vm::ValueKind::int32
                                  : std::is_same_v<T, bool>         ? vm::ValueKind::boolean
                                                                    : vm::ValueKind::int_;

template <typename T>
constexpr const char* name_of = std::is_same_v<T, double>         ? "float"
                                : std::is_same_v<T, float>        ? "float32"
                                : std::is_same_v<T, std::int32_t> ? "int32"
                                : std::is_same_v<T, bool>         ? "boolean"
                                                                  : "int";

/// `float[:, :]`
template <typename T>
std::string array_type_text(std::int64_t rank) {
  std::string text = std::string(name_of<T>) + "[:";
  for (std::int64_t axis = 1; axis < rank; ++axis) text += ", :";
  return text + "]";
}

/// What the library is given of extents.
inline std::vector<std::int64_t> extents_of(const vm::Value& array) {
  std::vector<std::int64_t> extents;
  array.as_array().for_each([&](const vm::Value&, const vm::Value& extent) { extents.push_back(extent.as_int()); });
  return extents;
}

}  // namespace raddle::stdlib::native
