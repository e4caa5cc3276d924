// log_32, log2_32, log10_32, log1p_32, pow_32.
//
// Method: x = 2^k z, f = z - 1; log x = k log 2 + f - f^2/2 + f^3 P(f). pow takes log2 z = s (C + s^2 (C/3 + s^2
// P(s^2))) with s = f / (2 + f), in two parts.
#pragma once
#include "vm/math/exponential32.hpp"
#include "vm/math/number.hpp"
#include "vm/math/tables32.hpp"

namespace raddle::vm::math {

/// x = 2^whole * (1 + f), with f from -1/3 to 1/3.
template <class F>
struct LogarithmParts32 {
  F whole, f;
  WordOf<F> exponent;  ///< whole + 127, but for subnormal x
};

/// Of a positive number.
template <class F>
RADDLE_MATH_INLINE LogarithmParts32<F> logarithm_parts32(F x) {
  using Word = WordOf<F>;
  const auto is_subnormal = x < F(0x1p-126);
  const Word one = Word(0x3f800000), bits = as_word(select(is_subnormal, x * F(0x1p23), x));
  const Word exponent = (bits + Word(0x3f800000 - 0x3f2aaaab)) >> 23;  // z begins with 2/3
  const F z = as_float(bits - (exponent << 23) + one);
  return {number_of<F>(exponent) - select(is_subnormal, F(127.0 + 23.0), F(127.0)), z - F(1.0), exponent};
}

/// log(1 + f) - f
template <class F>
RADDLE_MATH_INLINE F rest_of_log1p32(F f) {
  return f * f * multiply_add(f, polynomial(log_polynomial32, f), F(-0.5));
}

/// log(1 + f), to 2^-28 of it.
template <class F>
RADDLE_MATH_INLINE Pair<F> log1p32_in_parts(F f) {
  const Pair<F> half_square = product(f, F(-0.5) * f), first = ordered_sum(f, half_square.high);
  const F cube = half_square.high * f * F(-2.0);
  return {first.high, first.low + multiply_add(cube, polynomial(log_polynomial32, f), half_square.low)};
}

/// base + f + rest, of which a base that is not 0 is the greater one.
template <class F>
RADDLE_MATH_INLINE F sum32(F base, F f, F rest) {
  const Pair<F> first = ordered_sum(base, f);
  return first.high + (first.low + rest);
}

/// What all logarithms give of 0, negative numbers, infinity and NaN.
template <class F>
RADDLE_MATH_INLINE F with_ends32(F x, F result) {
  result = select(x == F(infinity), x, result);
  result = select(x == F(0.0), F(-infinity), result);
  return select(x >= F(0.0), result, not_a_number<F>());
}

template <class F>
RADDLE_MATH_INLINE F log_32(F x) {
  const LogarithmParts32<F> parts = logarithm_parts32(x);
  const F rest = multiply_add(parts.whole, F(ln2_cut_low32), rest_of_log1p32(parts.f));
  return with_ends32(x, sum32(parts.whole * F(ln2_cut_high32), parts.f, rest));  // the product is exact
}

template <class F>
RADDLE_MATH_INLINE F log2_32(F x) {
  const LogarithmParts32<F> parts = logarithm_parts32(x);
  const Pair<F> main = product(log1p32_in_parts(parts.f), log2_e_high32, log2_e_low32);
  return with_ends32(x, sum32(parts.whole, main.high, main.low));
}

template <class F>
RADDLE_MATH_INLINE F log10_32(F x) {
  const LogarithmParts32<F> parts = logarithm_parts32(x);
  const Pair<F> main = product(log1p32_in_parts(parts.f), log10_e_high32, log10_e_low32);
  return with_ends32(x, sum32(parts.whole * F(log10_2_cut_high32), main.high,
                              multiply_add(parts.whole, F(log10_2_cut_low32), main.low)));
}

template <class F>
RADDLE_MATH_INLINE F log1p_32(F x) {
  const Pair<F> more = sum(F(1.0), x);
  const LogarithmParts32<F> parts = logarithm_parts32(more.high);
  const F below = power_of_two<F>(select(x < F(0x1p60), WordOf<F>(254) - parts.exponent, WordOf<F>(0)));  // 2^-whole
  const Pair<F> f = ordered_sum(parts.f, more.low * below);
  const F low = f.low * multiply_add(f.high, f.high - F(1.0), F(1.0));  // f.low / (1 + f.high), nearly
  const F rest = multiply_add(parts.whole, F(ln2_cut_low32), low + rest_of_log1p32(f.high));
  F result = sum32(parts.whole * F(ln2_cut_high32), f.high, rest);
  result = select(without_sign(x) < F(0x1p-25), x, result);
  result = select(x == F(infinity), x, result);
  result = select(x == F(-1.0), F(-infinity), result);
  return select(x >= F(-1.0), result, not_a_number<F>());
}

/// Of a positive number, to 2^-33 of it.
template <class F>
RADDLE_MATH_INLINE Pair<F> binary_logarithm32(F x) {
  const LogarithmParts32<F> parts = logarithm_parts32(x);
  const Pair<F> divisor = ordered_sum(F(2.0), parts.f);
  const F inverse = F(1.0) / divisor.high, high = parts.f * inverse;
  const Pair<F> s{high, (multiply_add(-high, divisor.high, parts.f) - high * divisor.low) * inverse};
  const Pair<F> first = product(s.high, s.high);
  const F square = first.high, square_low = multiply_add(s.high + s.high, s.low, first.low);
  const Pair<F> third = product(square, F(third_log2_e_high32));
  const F more = multiply_add(square, polynomial(pow_polynomial32, square), F(third_log2_e_low32));
  const F third_low = multiply_add(square, more, multiply_add(square_low, F(third_log2_e_high32), third.low));
  const Pair<F> factor = ordered_sum(F(two_log2_e_high32), third.high);
  const F factor_low = factor.low + (third_low + F(two_log2_e_low32));
  const Pair<F> main = product(s.high, factor.high), all = ordered_sum(parts.whole, main.high);
  const F low = main.low + multiply_add(s.high, factor_low, s.low * factor.high);
  return ordered_sum(all.high, all.low + low);
}

/// Of a number without sign.
template <class F>
RADDLE_MATH_INLINE auto is_whole32(F x) {
  return (x >= F(0x1p23)) | ((x + F(0x1p23)) - F(0x1p23) == x);
}

template <class F>
RADDLE_MATH_INLINE F pow_32(F x, F y) {
  const F size = without_sign(x), power = without_sign(y);
  const Pair<F> logarithm = binary_logarithm32(size);
  const Pair<F> main = product(y, logarithm.high);
  const auto is_inside = without_sign(main.high) < F(160.0);
  const F high = select(is_inside, main.high, select(main.high > F(0.0), F(160.0), F(-160.0)));
  const F low = select(is_inside, multiply_add(y, logarithm.low, main.low), F(0.0));
  const F whole = high + F(to_whole32);
  const Pair<F> rest = ordered_sum(high - (whole - F(to_whole32)), low), first = product(rest.high, F(ln2_high32));
  const F r_low = first.low + multiply_add(rest.high, F(ln2_low32), rest.low * F(ln2_high32));
  F result = value32_of(exponential32_of<F>(whole, Pair<F>{first.high, r_low}));

  const F grows = select(y > F(0.0), F(infinity), F(0.0)), shrinks = select(y > F(0.0), F(0.0), F(infinity));
  result = select(power == F(infinity), select(size > F(1.0), grows, shrinks), result);
  result = select(size == F(infinity), grows, result);
  result = select(size == F(0.0), shrinks, result);
  result = select(size == F(1.0), F(1.0), result);
  const auto is_odd = is_whole32(power) & !is_whole32(power * F(0.5));
  result = with_sign(result, select(is_odd, sign_of(x), WordOf<F>(0)));
  result = select(y == F(2.0), x * x, result);  // as where the 2 is written
  const auto is_root = (x < F(0.0)) & (size < F(infinity)) & !is_whole32(power);
  result = select(is_root | is_nan(x) | is_nan(y), not_a_number<F>(), result);
  return select((x == F(1.0)) | (y == F(0.0)), F(1.0), result);
}

}  // namespace raddle::vm::math
