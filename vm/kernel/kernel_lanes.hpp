#pragma once
// Eight numbers as one, for what is compiled for each processor: Note [operations] in kernel_operations.hpp. All of it
// is inlined there.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "vm/kernel/kernel_operations.hpp"
#include "vm/math/lanes.hpp"

namespace raddle::vm {

/// Signed, of 64 bits; what overflows wraps around.
struct LaneInts {
  typedef std::int64_t Numbers __attribute__((vector_size(math::lane_count * 8), may_alias));
  typedef std::uint64_t Words __attribute__((vector_size(math::lane_count * 8), may_alias));
  Words words;
};

struct KernelLanes {
  using Int = LaneInts;
  using Float = math::Lanes;
  using Mask = math::LaneMask;
  using Array = KernelScalars::Array;  ///< the same for all lanes
  using Words = LaneInts::Words;
  using Numbers = LaneInts::Numbers;

  RADDLE_MATH_INLINE static bool any(const Mask& mask) {
    std::int64_t all = 0;
    for (int lane = 0; lane < math::lane_count; ++lane) all |= mask.bits[lane];
    return all != 0;
  }
  RADDLE_MATH_INLINE static Int integer(std::int64_t number) { return {Words{} + static_cast<std::uint64_t>(number)}; }
  RADDLE_MATH_INLINE static Mask sign_of(const Words& words) { return {(Numbers)words < 0}; }
  RADDLE_MATH_INLINE static Mask add_overflows(const Int& a, const Int& b, Int& sum) {
    sum.words = a.words + b.words;
    return sign_of((a.words ^ sum.words) & (b.words ^ sum.words));
  }
  RADDLE_MATH_INLINE static Mask sub_overflows(const Int& a, const Int& b, Int& rest) {
    rest.words = a.words - b.words;
    return sign_of((a.words ^ b.words) & (a.words ^ rest.words));
  }
  /// All are of 32 bits and, so that none of their quotients is not, above the least such number.
  RADDLE_MATH_INLINE static bool are_narrow(const Int& a, const Int& b) {
    constexpr std::uint64_t most = std::numeric_limits<std::int32_t>::max();
    return !any({(Numbers)((a.words + most) > 2 * most) | (Numbers)((b.words + most) > 2 * most)});
  }
  RADDLE_MATH_INLINE static Mask mul_overflows(const Int& a, const Int& b, Int& product) {
    if (are_narrow(a, b)) {
      product.words = a.words * b.words;
      return {Numbers{}};
    }
    Mask overflows;
    for (int i = 0; i < math::lane_count; ++i) {
      std::int64_t made = 0;
      const bool is_over =
          __builtin_mul_overflow(static_cast<std::int64_t>(a.words[i]), static_cast<std::int64_t>(b.words[i]), &made);
      overflows.bits[i] = is_over ? -1 : 0;
      product.words[i] = static_cast<std::uint64_t>(made);
    }
    return overflows;
  }
  /// Of narrow numbers: quotients of doubles, rounded to the next whole number, then mended, as ints are cut off. That
  /// is exact, and no processor divides many ints at once.
  RADDLE_MATH_INLINE static Int quotient(const Int& a, const Int& b) {
    if (!are_narrow(a, b)) {
      Int all;
      for (int i = 0; i < math::lane_count; ++i)
        all.words[i] =
            static_cast<std::uint64_t>(static_cast<std::int64_t>(a.words[i]) / static_cast<std::int64_t>(b.words[i]));
      return all;
    }
    constexpr double shift = 6755399441055744.0;  // 1.5 * 2^52: added to a whole number it puts it into the lowest bits
    typedef double Floats __attribute__((vector_size(math::lane_count * 8), may_alias));
    const Words shift_bits = Words{} + std::bit_cast<std::uint64_t>(shift);
    const Floats dividend = (Floats)(a.words + shift_bits) - shift, divisor = (Floats)(b.words + shift_bits) - shift;
    const Words rounded = (Words)(dividend / divisor + shift) - shift_bits;
    const Words rest = a.words - rounded * b.words;
    const Words is_beyond = (Words)((Numbers)(rest ^ a.words) < 0) & (Words)(rest != 0);
    const Words direction = (Words)((Numbers)(a.words ^ b.words) >> 63) | 1;  // of the quotient: 1 or -1
    return {rounded - (is_beyond & direction)};
  }
  RADDLE_MATH_INLINE static Int remainder(const Int& a, const Int& b) {
    return {a.words - quotient(a, b).words * b.words};
  }
  RADDLE_MATH_INLINE static Mask equal(const Int& a, const Int& b) { return {(Numbers)(a.words == b.words)}; }
  RADDLE_MATH_INLINE static Mask less(const Int& a, const Int& b) { return {(Numbers)a.words < (Numbers)b.words}; }
  RADDLE_MATH_INLINE static Int select(const Mask& mask, const Int& a, const Int& b) {
    return {mask.bits ? a.words : b.words};
  }
  RADDLE_MATH_INLINE static Mask not_equal(const Mask& a, const Mask& b) { return {a.bits ^ b.bits}; }
  RADDLE_MATH_INLINE static Float to_float(const Int& a) {
    return Float(__builtin_convertvector((Numbers)a.words, Float::Numbers));
  }
  RADDLE_MATH_INLINE static Int truncate(const Float& x) {
    return {(Words) __builtin_convertvector(x.numbers, Numbers)};
  }
  RADDLE_MATH_INLINE static Int to_int(const Mask& a) { return {(Words)a.bits & 1}; }
  RADDLE_MATH_INLINE static Float each(const Float& x, double (*function)(double)) {
    Float all;
    for (int i = 0; i < math::lane_count; ++i) all.numbers[i] = function(x.numbers[i]);
    return all;
  }
  RADDLE_MATH_INLINE static Float floor(const Float& x) {
    return each(x, [](double number) { return __builtin_floor(number); });
  }
  RADDLE_MATH_INLINE static Float ceil(const Float& x) {
    return each(x, [](double number) { return __builtin_ceil(number); });
  }
  RADDLE_MATH_INLINE static Float round(const Float& x) {
    return each(x, [](double number) { return __builtin_round(number); });
  }
  RADDLE_MATH_INLINE static Mask is_outside(const Array& array, const Int& index) {
    return {(Numbers)(index.words >= static_cast<std::uint64_t>(array.count))};
  }
  RADDLE_MATH_INLINE static Int size(const Array& array) { return integer(array.count); }
  template <typename Element>
  RADDLE_MATH_INLINE static Words elements_at(const Array& array, const Int& index, const Mask& outside) {
    const auto* const elements = reinterpret_cast<const Element*>(array.address);
    Words all{};
    for (int i = 0; i < math::lane_count; ++i)
      if (outside.bits[i] == 0) all[i] = elements[index.words[i]];
    return all;
  }
  RADDLE_MATH_INLINE static Int int_at(const Array& array, const Int& index, const Mask& outside) {
    return {elements_at<std::uint64_t>(array, index, outside)};
  }
  RADDLE_MATH_INLINE static Float float_at(const Array& array, const Int& index, const Mask& outside) {
    return Float((Float::Numbers)elements_at<std::uint64_t>(array, index, outside));
  }
  RADDLE_MATH_INLINE static Mask boolean_at(const Array& array, const Int& index, const Mask& outside) {
    return {(Numbers)(elements_at<std::uint8_t>(array, index, outside) != 0)};
  }
};

}  // namespace raddle::vm
