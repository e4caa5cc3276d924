#pragma once
// The numbers of Note [operations] in kernel_operations.hpp that are one number each.
#include <cmath>
#include <cstdint>

#include "vm/kernel/kernel_operations.hpp"
#include "vm/math/scalar.hpp"

namespace raddle::vm {

/// Of one number, on the processor that the tool runs on.
struct KernelScalars {
  using Int = std::int64_t;
  using Float = double;
  using Mask = bool;
  /// In two registers.
  struct Array {
    std::int64_t address, count;
  };
  static Int integer(std::int64_t number) { return number; }
  static Mask add_overflows(Int a, Int b, Int& sum) { return __builtin_add_overflow(a, b, &sum); }
  static Mask sub_overflows(Int a, Int b, Int& rest) { return __builtin_sub_overflow(a, b, &rest); }
  static Mask mul_overflows(Int a, Int b, Int& product) { return __builtin_mul_overflow(a, b, &product); }
  static Int quotient(Int a, Int b) { return a / b; }
  static Int remainder(Int a, Int b) { return a % b; }
  static Mask equal(Int a, Int b) { return a == b; }
  static Mask less(Int a, Int b) { return a < b; }
  static Int select(Mask mask, Int a, Int b) { return mask ? a : b; }
  static Mask not_equal(Mask a, Mask b) { return a != b; }
  static Float to_float(Int a) { return static_cast<double>(a); }
  static Int truncate(Float x) { return static_cast<std::int64_t>(x); }
  static Int to_int(Mask a) { return a ? 1 : 0; }
  static Float rounded32(Float x) { return static_cast<float>(x); }
  static std::uint64_t word_of(Int a) { return static_cast<std::uint64_t>(a); }
  static Int int_of(std::uint64_t word) { return static_cast<std::int64_t>(word); }
  static Float floor(Float x) { return std::floor(x); }
  static Float ceil(Float x) { return std::ceil(x); }
  static Float round(Float x) { return std::round(x); }
#define RADDLE_MATH_PARAMETERS_1 double x
#define RADDLE_MATH_PARAMETERS_2 double x, double y
#define RADDLE_MATH_ARGUMENTS_1 x
#define RADDLE_MATH_ARGUMENTS_2 x, y
#define RADDLE_MATH_FUNCTION(name, count) \
  static Float name(RADDLE_MATH_PARAMETERS_##count) { return math::scalar::name(RADDLE_MATH_ARGUMENTS_##count); }
#include "vm/math/functions.def"
#undef RADDLE_MATH_FUNCTION
#undef RADDLE_MATH_ARGUMENTS_1
#undef RADDLE_MATH_ARGUMENTS_2
#define RADDLE_MATH_ARGUMENTS_1 static_cast<float>(x)
#define RADDLE_MATH_ARGUMENTS_2 static_cast<float>(x), static_cast<float>(y)
#define RADDLE_MATH_FUNCTION(name, count)                          \
  static Float name##_32(RADDLE_MATH_PARAMETERS_##count) {         \
    return math::scalar::name##_32(RADDLE_MATH_ARGUMENTS_##count); \
  }
#include "vm/math/functions32.def"
#undef RADDLE_MATH_FUNCTION
#undef RADDLE_MATH_PARAMETERS_1
#undef RADDLE_MATH_PARAMETERS_2
#undef RADDLE_MATH_ARGUMENTS_1
#undef RADDLE_MATH_ARGUMENTS_2
  static Mask is_outside(const Array& array, Int index) {
    return static_cast<std::uint64_t>(index) >= static_cast<std::uint64_t>(array.count);
  }
  static Int size(const Array& array) { return array.count; }
  static Int int_at(const Array& array, Int index, Mask outside) {
    return outside ? 0 : reinterpret_cast<const std::int64_t*>(array.address)[index];
  }
  static Float float_at(const Array& array, Int index, Mask outside) {
    return outside ? 0 : reinterpret_cast<const double*>(array.address)[index];
  }
  static Int int32_at(const Array& array, Int index, Mask outside) {
    return outside ? 0 : reinterpret_cast<const std::int32_t*>(array.address)[index];
  }
  static Float float32_at(const Array& array, Int index, Mask outside) {
    return outside ? 0 : reinterpret_cast<const float*>(array.address)[index];
  }
  static Mask boolean_at(const Array& array, Int index, Mask outside) {
    return !outside && reinterpret_cast<const std::uint8_t*>(array.address)[index] != 0;
  }
};

}  // namespace raddle::vm
