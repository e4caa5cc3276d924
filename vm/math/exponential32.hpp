// exp_32, exp2_32, expm1_32, sinh_32, cosh_32, tanh_32.
//
// Method: x = k log 2 + r; exp(r) = 1 + r + r^2 P(r). What else is as in exponential.hpp, without a table.
#pragma once
#include "vm/math/number.hpp"
#include "vm/math/tables32.hpp"

namespace raddle::vm::math {

/// (1 + rest.high + rest.low) * 2^(exponent - 256)
template <class F>
struct Exponential32 {
  Pair<F> rest;
  WordOf<F> exponent;
};

/// @param whole  the result's logarithm of base 2, as `to_whole32` plus it
/// @param r      what it lacks: of the natural logarithm
template <class F>
RADDLE_MATH_INLINE Exponential32<F> exponential32_of(F whole, const Pair<F>& r) {
  const F low = multiply_add(r.high * r.high, polynomial(exp_polynomial32, r.high), r.low);
  return {{r.high, low}, as_word(whole) - WordOf<F>(to_whole_bits32 - 256)};
}
/// Of x, which is from -150 to 150.
template <class F>
RADDLE_MATH_INLINE Exponential32<F> exponential32_of(F x) {
  const F whole = multiply_add(x, F(log2_e_high32), F(to_whole32)), k = whole - F(to_whole32);
  const F high = multiply_add(-k, F(ln2_high32), x), less = k * F(ln2_low32), r = high - less;  // high is exact
  return exponential32_of<F>(whole, Pair<F>{r, (high - r) - less});
}
/// Of the sum of both.
template <class F>
RADDLE_MATH_INLINE Exponential32<F> exponential32_of(const Pair<F>& x) {
  const F whole = multiply_add(x.high, F(log2_e_high32), F(to_whole32)), k = whole - F(to_whole32);
  const F high = multiply_add(-k, F(ln2_high32), x.high), less = k * F(ln2_low32), r = high - less;
  return exponential32_of<F>(whole, ordered_sum(r, ((high - r) - less) + x.low));
}
/// Without 2^exponent.
template <class F>
RADDLE_MATH_INLINE Pair<F> mantissa32(const Exponential32<F>& e) {
  const Pair<F> all = ordered_sum(F(1.0), e.rest.high);
  return ordered_sum(all.high, all.low + e.rest.low);
}
template <class F>
RADDLE_MATH_INLINE F value32_of(const Exponential32<F>& e) {
  return scale(F(1.0) + total(e.rest), e.exponent);
}

template <class F>
RADDLE_MATH_INLINE F exp_32(F x) {
  const F inside = greatest(least(x, F(89.0)), F(-105.0));
  return select(is_nan(x), not_a_number<F>(), value32_of(exponential32_of(inside)));
}

template <class F>
RADDLE_MATH_INLINE F exp2_32(F x) {
  const F inside = greatest(least(x, F(129.0)), F(-151.0));
  const F whole = inside + F(to_whole32), rest = inside - (whole - F(to_whole32));
  const Pair<F> high = product(rest, F(ln2_high32));
  const Pair<F> r{high.high, multiply_add(rest, F(ln2_low32), high.low)};
  return select(is_nan(x), not_a_number<F>(), value32_of(exponential32_of<F>(whole, r)));
}

/// (exp(x) - 1) / 2, of x from -60 to 89
template <class F>
RADDLE_MATH_INLINE Pair<F> half_of_expm1_32(F x) {
  const Exponential32<F> e = exponential32_of(x);
  const F half = power_of_two<F>(e.exponent - WordOf<F>(130));
  const Pair<F> less = sum(half, F(-0.5)), all = sum(less.high, half * e.rest.high);
  return ordered_sum(all.high, all.low + multiply_add(half, e.rest.low, less.low));
}

template <class F>
RADDLE_MATH_INLINE F expm1_32(F x) {
  const F inside = greatest(least(x, F(89.0)), F(-20.0));
  F result = F(2.0) * total(half_of_expm1_32(inside));
  result = select(without_sign(x) < F(0x1p-25), x, result);
  return select(is_nan(x), not_a_number<F>(), result);
}

/// exp(x) / 8 and exp(-x) / 8, of x from 0 to 90
template <class F>
struct BothExponentials32 {
  Pair<F> up, down;
};
template <class F>
RADDLE_MATH_INLINE BothExponentials32<F> exponentials32_of(F x) {
  const Exponential32<F> e = exponential32_of(x);
  const F eighth = power_of_two<F>(e.exponent - WordOf<F>(132));
  const Pair<F> parts = mantissa32(e), up{parts.high * eighth, parts.low * eighth};
  return {up, quotient(Pair<F>{F(0x1p-6), F(0.0)}, up)};
}

template <class F>
RADDLE_MATH_INLINE F sinh_32(F x) {
  const F size = without_sign(x), square = size * size;
  const BothExponentials32<F> both = exponentials32_of(least(size, F(90.0)));
  const Pair<F> high = ordered_sum(both.up.high, -both.down.high);
  const F large = F(4.0) * (high.high + (high.low + (both.up.low - both.down.low)));
  const F small = multiply_add(size * square, polynomial(sinh_polynomial32, square), size);
  const F result = with_sign(select(size < F(0.3), small, large), sign_of(x));
  return select(is_nan(x), not_a_number<F>(), result);
}

template <class F>
RADDLE_MATH_INLINE F cosh_32(F x) {
  const BothExponentials32<F> both = exponentials32_of(least(without_sign(x), F(90.0)));
  const Pair<F> high = ordered_sum(both.up.high, both.down.high);
  const F result = F(4.0) * (high.high + (high.low + (both.up.low + both.down.low)));
  return select(is_nan(x), not_a_number<F>(), result);
}

template <class F>
RADDLE_MATH_INLINE F tanh_32(F x) {
  const F size = without_sign(x);
  const Pair<F> half = half_of_expm1_32(least(size + size, F(24.0)));  // of exp(2x) - 1, which + 2 is the divisor
  const Pair<F> divisor = sum(half.high, F(1.0));
  F result = total(quotient(half, Pair<F>{divisor.high, divisor.low + half.low}));
  result = with_sign(select(size < F(0x1p-13), size, result), sign_of(x));
  return select(is_nan(x), not_a_number<F>(), result);
}

}  // namespace raddle::vm::math
