#pragma once
// Eight numbers as one, for what is compiled for each processor (Note [for each processor] in vm/math/vector.hpp): Note
// [operations] in kernel_operations.hpp. All of it is inlined there.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "vm/kernel/kernel_scalars.hpp"
#include "vm/math/lanes.hpp"

namespace raddle::vm {
inline namespace RADDLE_PROCESSOR {

/// Signed, of 64 bits; what overflows wraps around.
struct LaneInts {
  using Numbers = math::Vector<std::int64_t>;
  using Words = math::Vector<std::uint64_t>;
  Words words;
};

struct KernelLanes {
  using Int = LaneInts;
  using Float = math::Lanes;
  using Mask = math::LaneMask;
  using Array = KernelScalars::Array;  ///< the same for all lanes
  using Words = LaneInts::Words;
  using Numbers = LaneInts::Numbers;

  RADDLE_MATH_INLINE static bool any(const Mask& mask) { return any_bit(mask.bits); }
  RADDLE_MATH_INLINE static Int integer(std::int64_t number) { return {Words(static_cast<std::uint64_t>(number))}; }
  RADDLE_MATH_INLINE static Numbers numbers_of(const Int& a) { return math::bits_as<std::int64_t>(a.words); }
  RADDLE_MATH_INLINE static Words words_of(const Mask& mask) { return math::bits_as<std::uint64_t>(mask.bits); }
  RADDLE_MATH_INLINE static Mask sign_of(const Words& words) {
    return {math::bits_as<std::int64_t>(words) < Numbers{}};
  }
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
    return !any_bit(((a.words + most) | (b.words + most)) >> 32);
  }
  RADDLE_MATH_INLINE static Mask mul_overflows(const Int& a, const Int& b, Int& product) {
    if (are_narrow(a, b)) {
      product.words = a.words * b.words;
      return {};
    }
    Mask overflows;
    for (int i = 0; i < math::lane_count; ++i) {
      std::int64_t made = 0;
      const bool is_over =
          __builtin_mul_overflow(static_cast<std::int64_t>(a.words[i]), static_cast<std::int64_t>(b.words[i]), &made);
      overflows.bits.set(i, is_over ? -1 : 0);
      product.words.set(i, static_cast<std::uint64_t>(made));
    }
    return overflows;
  }
  /// Of narrow numbers: quotients of doubles, rounded to the next whole number, then mended, as ints are cut off. That
  /// is exact, and no processor divides many ints at once.
  RADDLE_MATH_INLINE static Int quotient(const Int& a, const Int& b) {
    if (!are_narrow(a, b)) {
      Int all;
      for (int i = 0; i < math::lane_count; ++i)
        all.words.set(i, static_cast<std::uint64_t>(static_cast<std::int64_t>(a.words[i]) /
                                                    static_cast<std::int64_t>(b.words[i])));
      return all;
    }
    constexpr double shift = 6755399441055744.0;  // 1.5 * 2^52: added to a whole number it puts it into the lowest bits
    const std::uint64_t shift_bits = std::bit_cast<std::uint64_t>(shift);
    const auto to_floats = [&](const Words& words)
                               RADDLE_MATH_LAMBDA { return math::bits_as<double>(words + shift_bits) - shift; };
    const Words rounded = math::bits_as<std::uint64_t>(to_floats(a.words) / to_floats(b.words) + shift) - shift_bits;
    const Words rest = a.words - rounded * b.words;
    const Words is_beyond = words_of(sign_of(rest ^ a.words)) & words_of({rest != Words{}});
    const Words direction = words_of(sign_of(a.words ^ b.words)) | 1;  // of the quotient: 1 or -1
    return {rounded - (is_beyond & direction)};
  }
  RADDLE_MATH_INLINE static Int remainder(const Int& a, const Int& b) {
    return {a.words - quotient(a, b).words * b.words};
  }
  RADDLE_MATH_INLINE static Mask equal(const Int& a, const Int& b) { return {a.words == b.words}; }
  RADDLE_MATH_INLINE static Mask less(const Int& a, const Int& b) { return {numbers_of(a) < numbers_of(b)}; }
  RADDLE_MATH_INLINE static Int select(const Mask& mask, const Int& a, const Int& b) {
    return {math::select(mask.bits, a.words, b.words)};
  }
  RADDLE_MATH_INLINE static Mask not_equal(const Mask& a, const Mask& b) { return {a.bits ^ b.bits}; }
  RADDLE_MATH_INLINE static Float to_float(const Int& a) { return Float(math::converted<double>(numbers_of(a))); }
  RADDLE_MATH_INLINE static Int truncate(const Float& x) {
    return {math::bits_as<std::uint64_t>(math::converted<std::int64_t>(x.numbers))};
  }
  RADDLE_MATH_INLINE static Float rounded32(const Float& x) {
    typedef float Rounded __attribute__((vector_size(RADDLE_VECTOR_BYTES / 2)));
    return Float(math::each_part<double>([&](int i) RADDLE_MATH_LAMBDA {
      const Rounded rounded = __builtin_convertvector(x.numbers.parts[i], Rounded);
      return __builtin_convertvector(rounded, Float::Numbers::Part);
    }));
  }
  RADDLE_MATH_INLINE static Int to_int(const Mask& a) { return {words_of(a) & 1}; }
  RADDLE_MATH_INLINE static math::LaneWords word_of(const Int& a) { return math::LaneWords(a.words); }
  RADDLE_MATH_INLINE static Int int_of(const math::LaneWords& word) { return {word.bits}; }
  RADDLE_MATH_INLINE static Float each(const Float& x, double (*function)(double)) {
    return Float(math::each_lane<double>([&](int part, int lane)
                                             RADDLE_MATH_LAMBDA { return function(x.numbers.parts[part][lane]); }));
  }
  /// For an operation that is more than a function of vm/math: those are computed elsewhere, all lanes at once.
  RADDLE_MATH_INLINE static Float log(const Float& x) { return each(x, KernelScalars::log); }
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
    // of unsigned numbers: a negative index is a large one, and no array has so many elements
    constexpr std::uint64_t highest = std::uint64_t{1} << 63;
    const Words i = index.words ^ highest, count = integer(array.count).words ^ highest;
    return {math::bits_as<std::int64_t>(i) >= math::bits_as<std::int64_t>(count)};
  }
  RADDLE_MATH_INLINE static Int size(const Array& array) { return integer(array.count); }
  /// 0 where the mask is set.
  template <typename Number, typename Element>
  RADDLE_MATH_INLINE static math::Vector<Number> elements_at(const Array& array, const Int& index,
                                                             const Mask& outside) {
    const auto* const elements = reinterpret_cast<const Element*>(array.address);
    math::Vector<Number> all{};
    for (int i = 0; i < math::lane_count; ++i)
      if (outside.bits[i] == 0) all.set(i, static_cast<Number>(elements[index.words[i]]));
    return all;
  }
  RADDLE_MATH_INLINE static Int int_at(const Array& array, const Int& index, const Mask& outside) {
    return {elements_at<std::uint64_t, std::int64_t>(array, index, outside)};
  }
  RADDLE_MATH_INLINE static Float float_at(const Array& array, const Int& index, const Mask& outside) {
    return Float(elements_at<double, double>(array, index, outside));
  }
  RADDLE_MATH_INLINE static Int int32_at(const Array& array, const Int& index, const Mask& outside) {
    return {elements_at<std::uint64_t, std::int32_t>(array, index, outside)};  // with its sign
  }
  RADDLE_MATH_INLINE static Float float32_at(const Array& array, const Int& index, const Mask& outside) {
    return Float(elements_at<double, float>(array, index, outside));
  }
  RADDLE_MATH_INLINE static Mask boolean_at(const Array& array, const Int& index, const Mask& outside) {
    return {elements_at<std::uint64_t, std::uint8_t>(array, index, outside) != Words{}};
  }
};

}  // namespace RADDLE_PROCESSOR
}  // namespace raddle::vm
