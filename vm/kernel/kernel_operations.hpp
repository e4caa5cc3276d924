#pragma once
// What each operation of kernel_ops.def means, written once over the numbers of whoever runs it.
//
// Note [operations]. Numbers are a class of types and functions that all give the same bits (KernelScalars in
// kernel_scalars.hpp is that of one number):
//   Int, Float, Mask, Array   one of each lane; Float and Mask are a number type of vm/math with its masks (Note
//   [number
//                             types] in vm/math/number.hpp) and also have ! and > and >=; a Mask is a boolean, too
//   integer(n)                the same in all lanes
//   add_overflows(a, b, sum), sub_overflows, mul_overflows   where it does; `sum` means nothing there
//   quotient(a, b), remainder(a, b)   truncating; b is not 0, and not -1 where a is the least int
//   equal(a, b), less(a, b), select(mask, a, b)   of ints; not_equal(a, b) of masks
//   to_float(int), truncate(float), to_int(mask)  of a float that is in the range of ints
//   rounded32(float)           to the nearest float32; as an Int an int32 is, a float32 is a Float
//   floor(x), ceil(x), round(x), exp(x) ..        round goes half away from zero; all of vm/math/functions.def
//   exp_32(x) ..               all of vm/math/functions32.def, of a Float that is rounded to float32 before
//   word_of(int), int_of(word)                    the bits of one as the other: Word is that of the number type
//   is_outside(array, index), size(array)
//   int_at(array, index, outside), float_at, boolean_at, int32_at, float32_at   not looked at where it is outside
// `fail(mask, failure)` is told where an operation fails, before what would trap there is computed; results mean
// nothing where it does.
#include <cstdint>
#include <limits>

#include "vm/kernel/kernel.hpp"
#include "vm/kernel/kernel_int_operations.hpp"
#include "vm/math/number.hpp"
#include "vm/math/random.hpp"

namespace raddle::vm {

template <class Numbers>
struct KernelOperations : KernelIntOperations<Numbers> {
  using N = Numbers;
  using Int = typename N::Int;
  using Float = typename N::Float;
  using Mask = typename N::Mask;
  using Array = typename N::Array;

  template <class Value>
  RADDLE_MATH_INLINE static Value copy(const Value& x, const auto&) {
    return x;
  }

  // ---------------------------------------------------------------- floats

  RADDLE_MATH_INLINE static Float choose_float(const Mask& condition, const Float& yes, const Float& no, const auto&) {
    using math::select;
    return select(condition, yes, no);
  }
  RADDLE_MATH_INLINE static Float add_float(const Float& a, const Float& b, const auto&) { return a + b; }
  RADDLE_MATH_INLINE static Float sub_float(const Float& a, const Float& b, const auto&) { return a - b; }
  RADDLE_MATH_INLINE static Float mul_float(const Float& a, const Float& b, const auto&) { return a * b; }
  RADDLE_MATH_INLINE static Float div_float(const Float& a, const Float& b, const auto&) { return a / b; }
  RADDLE_MATH_INLINE static Float neg_float(const Float& a, const auto&) { return -a; }
  RADDLE_MATH_INLINE static Float abs_float(const Float& a, const auto&) { return math::without_sign(a); }
  RADDLE_MATH_INLINE static Float max_float(const Float& a, const Float& b, const auto&) {
    using math::select;
    return select(math::is_nan(a) | (a > b), a, b);
  }
  RADDLE_MATH_INLINE static Float min_float(const Float& a, const Float& b, const auto&) {
    using math::select;
    return select(math::is_nan(a) | (a < b), a, b);
  }
  RADDLE_MATH_INLINE static Float mul_add(const Float& a, const Float& b, const Float& c, const auto&) {
    using math::multiply_add;
    return multiply_add(a, b, c);
  }
  RADDLE_MATH_INLINE static Float mul_sub(const Float& a, const Float& b, const Float& c, const auto&) {
    using math::multiply_add;
    return multiply_add(a, b, -c);
  }
  RADDLE_MATH_INLINE static Float sub_mul(const Float& a, const Float& b, const Float& c, const auto&) {
    using math::multiply_add;
    return multiply_add(-a, b, c);
  }
  RADDLE_MATH_INLINE static Float floor(const Float& x, const auto&) { return N::floor(x); }
  RADDLE_MATH_INLINE static Float ceil(const Float& x, const auto&) { return N::ceil(x); }
  RADDLE_MATH_INLINE static Float round(const Float& x, const auto&) { return N::round(x); }

  // ---------------------------------------------------------------- booleans

  RADDLE_MATH_INLINE static Mask eq_int(const Int& a, const Int& b, const auto&) { return N::equal(a, b); }
  RADDLE_MATH_INLINE static Mask ne_int(const Int& a, const Int& b, const auto&) { return !N::equal(a, b); }
  RADDLE_MATH_INLINE static Mask lt_int(const Int& a, const Int& b, const auto&) { return N::less(a, b); }
  RADDLE_MATH_INLINE static Mask le_int(const Int& a, const Int& b, const auto&) { return !N::less(b, a); }
  RADDLE_MATH_INLINE static Mask eq_float(const Float& a, const Float& b, const auto&) { return a == b; }
  RADDLE_MATH_INLINE static Mask ne_float(const Float& a, const Float& b, const auto&) { return !(a == b); }
  RADDLE_MATH_INLINE static Mask lt_float(const Float& a, const Float& b, const auto&) { return a < b; }
  RADDLE_MATH_INLINE static Mask le_float(const Float& a, const Float& b, const auto&) { return a <= b; }
  RADDLE_MATH_INLINE static Mask eq_boolean(const Mask& a, const Mask& b, const auto&) { return !N::not_equal(a, b); }
  RADDLE_MATH_INLINE static Mask ne_boolean(const Mask& a, const Mask& b, const auto&) { return N::not_equal(a, b); }
  RADDLE_MATH_INLINE static Mask and_(const Mask& a, const Mask& b, const auto&) { return a & b; }
  RADDLE_MATH_INLINE static Mask or_(const Mask& a, const Mask& b, const auto&) { return a | b; }
  RADDLE_MATH_INLINE static Mask not_(const Mask& a, const auto&) { return !a; }
  RADDLE_MATH_INLINE static Mask is_nan(const Float& x, const auto&) { return math::is_nan(x); }

  // ---------------------------------------------------------------- conversions, arrays

  RADDLE_MATH_INLINE static Float int_to_float(const Int& a, const auto&) { return N::to_float(a); }
  RADDLE_MATH_INLINE static Int truncated(const Float& x, const Mask& is_inside, const auto& fail) {
    using math::select;
    fail(!is_inside, KernelFailure::domain);
    return N::truncate(select(is_inside, x, Float(0.0)));
  }
  /// 2^63 is a float, 2^63 - 1 is not.
  RADDLE_MATH_INLINE static Int float_to_int(const Float& x, const auto& fail) {
    return truncated(x, (x >= Float(-0x1p63)) & (x < Float(0x1p63)), fail);
  }
  RADDLE_MATH_INLINE static Int bool_to_int(const Mask& a, const auto&) { return N::to_int(a); }
  RADDLE_MATH_INLINE static Int int_to_int32(const Int& a, const auto& fail) {
    const Mask is_outside = N::less(a, N::integer(-0x80000000LL)) | N::less(N::integer(0x7fffffff), a);
    fail(is_outside, KernelFailure::domain);
    return N::select(is_outside, N::integer(0), a);
  }
  RADDLE_MATH_INLINE static Int float_to_int32(const Float& x, const auto& fail) {
    return truncated(x, (x > Float(-0x1p31 - 1.0)) & (x < Float(0x1p31)), fail);
  }
  RADDLE_MATH_INLINE static Int int32_to_int(const Int& a, const auto&) { return a; }
  RADDLE_MATH_INLINE static Float round_to_float32(const Float& x, const auto&) { return N::rounded32(x); }
  RADDLE_MATH_INLINE static Float float_to_float32(const Float& x, const auto& fail) {
    const Float size = math::without_sign(x);  // half a step beyond the greatest float32 what is rounded is infinite
    fail((size >= Float(0x1.ffffffp127)) & (size < Float(math::infinity)), KernelFailure::domain);
    return N::rounded32(x);
  }
  RADDLE_MATH_INLINE static Float float32_to_float(const Float& x, const auto&) { return x; }
#define RADDLE_KERNEL_ELEMENT(Number, type)                                                             \
  RADDLE_MATH_INLINE static Number get_##type(const Array& array, const Int& index, const auto& fail) { \
    const Mask outside = N::is_outside(array, index);                                                   \
    fail(outside, KernelFailure::index);                                                                \
    return N::type##_at(array, index, outside);                                                         \
  }
  RADDLE_KERNEL_ELEMENT(Int, int)
  RADDLE_KERNEL_ELEMENT(Float, float)
  RADDLE_KERNEL_ELEMENT(Mask, boolean)
  RADDLE_KERNEL_ELEMENT(Int, int32)
  RADDLE_KERNEL_ELEMENT(Float, float32)
#undef RADDLE_KERNEL_ELEMENT
  RADDLE_MATH_INLINE static Int size(const Array& array, const auto&) { return N::size(array); }
  RADDLE_MATH_INLINE static Int index_add(const Int& a, const Int& b, const auto&) {
    Int sum;
    static_cast<void>(N::add_overflows(a, b, sum));
    return sum;
  }
  RADDLE_MATH_INLINE static Int index_mul(const Int& a, const Int& b, const auto&) {
    Int product;
    static_cast<void>(N::mul_overflows(a, b, product));
    return product;
  }
  RADDLE_MATH_INLINE static Int index(const Int& a, const Int& extent, const auto& fail) {
    fail(N::less(a, N::integer(0)) | !N::less(a, extent), KernelFailure::extent);
    return a;
  }
  RADDLE_MATH_INLINE static Int slice(const Int& first, const Int& last, const Int& extent, const auto& fail) {
    Int distance, count;
    fail(N::sub_overflows(last, first, distance), KernelFailure::extent);
    fail(N::add_overflows(distance, N::integer(1), count), KernelFailure::extent);
    const Mask is_outside = N::less(first, N::integer(0)) | N::less(extent, first) | !N::less(last, extent);
    fail(is_outside | N::less(count, N::integer(0)), KernelFailure::extent);  // none: the last one is right before
    return count;
  }
  RADDLE_MATH_INLINE static Int same_extent(const Int& wanted, const Int& found, const auto& fail) {
    assert_true(eq_int(wanted, found, fail), fail);
    return wanted;
  }

  // ---------------------------------------------------------------- mathematics

  /// NaN though no input is.
  RADDLE_MATH_INLINE static void check_domain(const Float& x, const Float& y, const Float& result, const auto& fail) {
    fail(math::is_nan(result) & !(math::is_nan(x) | math::is_nan(y)), KernelFailure::domain);
  }

#define RADDLE_KERNEL_MATHEMATICS(name) \
  RADDLE_MATH_INLINE static Float name(const Float& x, const auto&) { return N::name(x); }
  RADDLE_KERNEL_MATHEMATICS(cbrt)
  RADDLE_KERNEL_MATHEMATICS(exp)
  RADDLE_KERNEL_MATHEMATICS(exp2)
  RADDLE_KERNEL_MATHEMATICS(expm1)
  RADDLE_KERNEL_MATHEMATICS(atan)
  RADDLE_KERNEL_MATHEMATICS(sinh)
  RADDLE_KERNEL_MATHEMATICS(cosh)
  RADDLE_KERNEL_MATHEMATICS(tanh)
  RADDLE_KERNEL_MATHEMATICS(asinh)
  RADDLE_KERNEL_MATHEMATICS(lgamma)
  RADDLE_KERNEL_MATHEMATICS(erf)
  RADDLE_KERNEL_MATHEMATICS(erfc)
  RADDLE_KERNEL_MATHEMATICS(cbrt_32)
  RADDLE_KERNEL_MATHEMATICS(exp_32)
  RADDLE_KERNEL_MATHEMATICS(exp2_32)
  RADDLE_KERNEL_MATHEMATICS(expm1_32)
  RADDLE_KERNEL_MATHEMATICS(atan_32)
  RADDLE_KERNEL_MATHEMATICS(sinh_32)
  RADDLE_KERNEL_MATHEMATICS(cosh_32)
  RADDLE_KERNEL_MATHEMATICS(tanh_32)
  RADDLE_KERNEL_MATHEMATICS(erf_32)
  RADDLE_KERNEL_MATHEMATICS(erfc_32)
#undef RADDLE_KERNEL_MATHEMATICS
  RADDLE_MATH_INLINE static Float log_base(const Float& x, const Float& base, const auto& fail) {
    const Float result = N::log(x) / N::log(base);
    check_domain(x, base, result, fail);
    return result;
  }
#define RADDLE_KERNEL_MATHEMATICS(name)                                    \
  RADDLE_MATH_INLINE static Float name(const Float& x, const auto& fail) { \
    const Float result = N::name(x);                                       \
    check_domain(x, x, result, fail);                                      \
    return result;                                                         \
  }
  RADDLE_KERNEL_MATHEMATICS(sqrt)
  RADDLE_KERNEL_MATHEMATICS(log)
  RADDLE_KERNEL_MATHEMATICS(log2)
  RADDLE_KERNEL_MATHEMATICS(log10)
  RADDLE_KERNEL_MATHEMATICS(log1p)
  RADDLE_KERNEL_MATHEMATICS(sin)
  RADDLE_KERNEL_MATHEMATICS(cos)
  RADDLE_KERNEL_MATHEMATICS(tan)
  RADDLE_KERNEL_MATHEMATICS(asin)
  RADDLE_KERNEL_MATHEMATICS(acos)
  RADDLE_KERNEL_MATHEMATICS(acosh)
  RADDLE_KERNEL_MATHEMATICS(atanh)
  RADDLE_KERNEL_MATHEMATICS(sqrt_32)
  RADDLE_KERNEL_MATHEMATICS(log_32)
  RADDLE_KERNEL_MATHEMATICS(log2_32)
  RADDLE_KERNEL_MATHEMATICS(log10_32)
  RADDLE_KERNEL_MATHEMATICS(log1p_32)
  RADDLE_KERNEL_MATHEMATICS(sin_32)
  RADDLE_KERNEL_MATHEMATICS(cos_32)
  RADDLE_KERNEL_MATHEMATICS(tan_32)
  RADDLE_KERNEL_MATHEMATICS(asin_32)
  RADDLE_KERNEL_MATHEMATICS(acos_32)
#undef RADDLE_KERNEL_MATHEMATICS
  RADDLE_MATH_INLINE static Float atan2(const Float& x, const Float& y, const auto&) { return N::atan2(x, y); }
  RADDLE_MATH_INLINE static Float hypot(const Float& x, const Float& y, const auto&) { return N::hypot(x, y); }
  RADDLE_MATH_INLINE static Float pow(const Float& x, const Float& y, const auto&) { return N::pow(x, y); }
  RADDLE_MATH_INLINE static Float pow_float(const Float& x, const Float& y, const auto& fail) {
    const Float result = N::pow(x, y);
    check_domain(x, y, result, fail);
    return result;
  }
  RADDLE_MATH_INLINE static Float atan2_32(const Float& x, const Float& y, const auto&) { return N::atan2_32(x, y); }
  RADDLE_MATH_INLINE static Float hypot_32(const Float& x, const Float& y, const auto&) { return N::hypot_32(x, y); }
  RADDLE_MATH_INLINE static Float pow_32(const Float& x, const Float& y, const auto&) { return N::pow_32(x, y); }
  RADDLE_MATH_INLINE static Float pow_float_32(const Float& x, const Float& y, const auto& fail) {
    const Float result = N::pow_32(x, y);
    check_domain(x, y, result, fail);
    return result;
  }
  RADDLE_MATH_INLINE static Float pow_int(const Int& x, const Int& y, const auto&) {
    return N::pow(N::to_float(x), N::to_float(y));
  }

  // ---------------------------------------------------------------- random numbers

  RADDLE_MATH_INLINE static Int mix_stream(const Int& stream, const Int& with, const auto&) {
    return N::int_of(math::mix_stream(N::word_of(stream), N::word_of(with)));
  }
  RADDLE_MATH_INLINE static Float random_unit(const Int& seed, const Int& stream, const Int& index, const auto&) {
    return math::random_unit<Float>(N::word_of(seed), N::word_of(stream), N::word_of(index));
  }
  RADDLE_MATH_INLINE static Int random_range(const Int& start, const Int& end, const auto& fail) {
    fail(!N::less(start, end), KernelFailure::domain);
    return distance(end, start, fail);
  }
  /// As RandomStream in stdlib/numbers/random_stream.hpp, which may refuse a number and take the next one. Fails where
  /// four are refused, and where a number might be of a range of 2^63 or more.
  RADDLE_MATH_INLINE static Int random_below(const Int& seed, const Int& stream, const Int& bound, const auto& fail) {
    using math::rarely;
    using math::select;
    const auto range = N::word_of(bound), signs = N::word_of(N::integer(least));
    const auto is_below = [&](const auto& a, const auto& b) __attribute__((always_inline)) {  // unsigned
      return N::less(N::int_of(a ^ signs), N::int_of(b ^ signs));
    };
    const auto bits = [&](std::int64_t index) __attribute__((always_inline)) {
      return math::random_bits<Float>(N::word_of(seed), N::word_of(stream), N::word_of(N::integer(index)));
    };
    const auto first = bits(0);
    const auto usual = math::upper_product(first, range);
    const auto looked_at = [&]() __attribute__((always_inline)) {
      // 2^64 modulo the range: twice what 2^63 leaves
      const Mask is_small = N::less(N::integer(0), bound);
      const Int divisor = N::select(is_small, bound, N::integer(1));
      const auto half = N::word_of(N::remainder(N::integer(std::numeric_limits<std::int64_t>::max()), divisor)) +
                        N::word_of(N::integer(1));
      const auto rest = select(half == range, N::word_of(N::integer(0)), half), twice = rest + rest;
      const auto refused = select(is_below(twice, range), twice, twice - range);
      auto found = range;
      for (std::int64_t index = 3; index >= 0; --index) {
        const auto number = index == 0 ? first : bits(index);
        found = select(is_below(number * range, refused), found, math::upper_product(number, range));
      }
      return select(is_small, found, range);
    };
    const auto found = rarely(is_below(first * range, range), usual, looked_at);
    fail(found == range, KernelFailure::domain);
    return N::int_of(found);
  }
  RADDLE_MATH_INLINE static Int random_from(const Int& start, const Int& distance, const auto&) {
    return N::int_of(N::word_of(start) + N::word_of(distance));
  }
  RADDLE_MATH_INLINE static Int distance(const Int& to, const Int& from, const auto&) {
    return N::int_of(N::word_of(to) - N::word_of(from));
  }
  RADDLE_MATH_INLINE static Float random_deviation(const Float& x, const auto& fail) {
    fail(!(x >= Float(0.0)), KernelFailure::domain);
    return x;
  }
  RADDLE_MATH_INLINE static Float random_mean(const Float& x, const auto& fail) {
    fail(!(x > Float(0.0)), KernelFailure::domain);
    return x;
  }

  // ---------------------------------------------------------------- assertions

  RADDLE_MATH_INLINE static Mask expect(const Mask& a, const auto& fail) {
    assert_true(a, fail);
    return a;
  }
  RADDLE_MATH_INLINE static void assert_true(const Mask& a, const auto& fail) { fail(!a, KernelFailure::assertion); }
  RADDLE_MATH_INLINE static void assert_equal_int(const Int& a, const Int& b, const auto& fail) {
    assert_true(eq_int(a, b, fail), fail);
  }
  RADDLE_MATH_INLINE static void assert_equal_float(const Float& a, const Float& b, const auto& fail) {
    assert_true(eq_float(a, b, fail), fail);
  }
  RADDLE_MATH_INLINE static void assert_equal_boolean(const Mask& a, const Mask& b, const auto& fail) {
    assert_true(eq_boolean(a, b, fail), fail);
  }
  RADDLE_MATH_INLINE static void assert_less_int(const Int& a, const Int& b, const auto& fail) {
    assert_true(lt_int(a, b, fail), fail);
  }
  RADDLE_MATH_INLINE static void assert_less_float(const Float& a, const Float& b, const auto& fail) {
    assert_true(lt_float(a, b, fail), fail);
  }
  RADDLE_MATH_INLINE static void assert_not_greater_int(const Int& a, const Int& b, const auto& fail) {
    assert_true(le_int(a, b, fail), fail);
  }
  RADDLE_MATH_INLINE static void assert_not_greater_float(const Float& a, const Float& b, const auto& fail) {
    assert_true(le_float(a, b, fail), fail);
  }

 private:
  static constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
};

}  // namespace raddle::vm
