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

/// Note [comparisons of lanes]. Before what is inlined here is compiled for the processor, GCC takes apart what the
/// least processor does not have, lane by lane: comparisons of 64 bits, and what is chosen by them. So these are made
/// of sums, bits and shifts, which stay whole: a run of a million products and remainders (tests/bench/fill_and_sum.df,
/// interpreted) takes 7.2 ms of processor time in place of 10.9.

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

  /// By halves: GCC takes a vector apart, lane by lane, if it is asked for them all.
  RADDLE_MATH_INLINE static bool any(const Mask& mask) {
    static_assert(math::lane_count == 8);
    typedef std::int64_t Four __attribute__((vector_size(32)));
    typedef std::int64_t Two __attribute__((vector_size(16)));
    const auto bits = (Numbers)mask.bits;
    const Four four = __builtin_shufflevector(bits, bits, 0, 1, 2, 3) | __builtin_shufflevector(bits, bits, 4, 5, 6, 7);
    const Two two = __builtin_shufflevector(four, four, 0, 1) | __builtin_shufflevector(four, four, 2, 3);
    return (two[0] | two[1]) != 0;
  }
  RADDLE_MATH_INLINE static Int integer(std::int64_t number) { return {Words{} + static_cast<std::uint64_t>(number)}; }
  /// All bits of a lane where its highest one is set.
  RADDLE_MATH_INLINE static Words spread_sign(const Words& words) { return Words{} - (words >> 63); }
  RADDLE_MATH_INLINE static Words is_not_zero(const Words& words) { return spread_sign(words | (Words{} - words)); }
  RADDLE_MATH_INLINE static Mask sign_of(const Words& words) { return {(Numbers)spread_sign(words)}; }
  RADDLE_MATH_INLINE static Mask add_overflows(const Int& a, const Int& b, Int& sum) {
    sum.words = a.words + b.words;
    return sign_of((a.words ^ sum.words) & (b.words ^ sum.words));
  }
  RADDLE_MATH_INLINE static Mask sub_overflows(const Int& a, const Int& b, Int& rest) {
    rest.words = a.words - b.words;
    return sign_of((a.words ^ b.words) & (a.words ^ rest.words));
  }
  /// All lie between -2^31 and 2^31, the former left out.
  RADDLE_MATH_INLINE static bool are_narrow(const Int& a, const Int& b) {
    constexpr std::uint64_t most = std::numeric_limits<std::int32_t>::max();
    return !any({(Numbers)(((a.words + most) | (b.words + most)) >> 32)});
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
    const Words is_beyond = spread_sign(rest ^ a.words) & is_not_zero(rest);
    const Words direction = spread_sign(a.words ^ b.words) | 1;  // of the quotient: 1 or -1
    return {rounded - (is_beyond & direction)};
  }
  RADDLE_MATH_INLINE static Int remainder(const Int& a, const Int& b) {
    return {a.words - quotient(a, b).words * b.words};
  }
  RADDLE_MATH_INLINE static Mask equal(const Int& a, const Int& b) {
    return {(Numbers)~is_not_zero(a.words ^ b.words)};
  }
  /// Source: Warren, "Hacker's Delight" (2nd edition), section 2-12; also of is_outside().
  RADDLE_MATH_INLINE static Mask less(const Int& a, const Int& b) {
    return sign_of((a.words & ~b.words) | (~(a.words ^ b.words) & (a.words - b.words)));
  }
  RADDLE_MATH_INLINE static Int select(const Mask& mask, const Int& a, const Int& b) {
    return {((Words)mask.bits & a.words) | (~(Words)mask.bits & b.words)};
  }
  RADDLE_MATH_INLINE static Mask not_equal(const Mask& a, const Mask& b) { return {a.bits ^ b.bits}; }
  RADDLE_MATH_INLINE static Float to_float(const Int& a) {
    return Float(__builtin_convertvector((Numbers)a.words, Float::Numbers));
  }
  RADDLE_MATH_INLINE static Int truncate(const Float& x) {
    return {(Words) __builtin_convertvector(x.numbers, Numbers)};
  }
  RADDLE_MATH_INLINE static Float rounded32(const Float& x) {
    typedef float Rounded __attribute__((vector_size(math::lane_count * 4)));
    return Float(__builtin_convertvector(__builtin_convertvector(x.numbers, Rounded), Float::Numbers));
  }
  RADDLE_MATH_INLINE static Int to_int(const Mask& a) { return {(Words)a.bits & 1}; }
  RADDLE_MATH_INLINE static math::LaneWords word_of(const Int& a) { return math::LaneWords(a.words); }
  RADDLE_MATH_INLINE static Int int_of(const math::LaneWords& word) { return {word.bits}; }
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
    const Words i = index.words, count = integer(array.count).words;
    return {~sign_of((~i & count) | (~(i ^ count) & (i - count))).bits};
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
  RADDLE_MATH_INLINE static Int int32_at(const Array& array, const Int& index, const Mask& outside) {
    const auto* const elements = reinterpret_cast<const std::int32_t*>(array.address);
    Words all{};
    for (int i = 0; i < math::lane_count; ++i)
      if (outside.bits[i] == 0) all[i] = static_cast<std::uint64_t>(std::int64_t{elements[index.words[i]]});
    return {all};
  }
  RADDLE_MATH_INLINE static Float float32_at(const Array& array, const Int& index, const Mask& outside) {
    const auto* const elements = reinterpret_cast<const float*>(array.address);
    Float all(0.0);
    for (int i = 0; i < math::lane_count; ++i)
      if (outside.bits[i] == 0) all.numbers[i] = elements[index.words[i]];
    return all;
  }
  RADDLE_MATH_INLINE static Mask boolean_at(const Array& array, const Int& index, const Mask& outside) {
    return {(Numbers)is_not_zero(elements_at<std::uint8_t>(array, index, outside))};
  }
};

}  // namespace raddle::vm
