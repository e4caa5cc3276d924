// exp, exp2, expm1, sinh, cosh, tanh.
//
// Method: x = (k/128) log 2 + r; 2^(k/128) from a table, exp(r) by a polynomial (Tang, "Table-driven implementation of
// the exponential function", 1989; with the table's error beside it, as ARM's optimized routines have it). r and what
// is made of it are kept in two parts, so that where 1 or exp(-x) is taken off the result still has all its bits.
#pragma once
#include "vm/math/number.hpp"
#include "vm/math/tables.hpp"

namespace raddle::vm::math {

/// top * (1 + rest.high + rest.low) * 2^(exponent - 2048)
template <class F>
struct Exponential {
  F top;
  Pair<F> rest;
  WordOf<F> exponent;
};

/// @param whole  128 * the result's logarithm of base 2, as `to_whole` plus it
/// @param r      what it lacks: of the natural logarithm
template <class F>
RADDLE_MATH_INLINE Exponential<F> exponential_of(F whole, const Pair<F>& r) {
  const WordOf<F> number = as_word(whole) - WordOf<F>(to_whole_bits - (uint64_t{2048} << 7));
  const WordOf<F> index = (number & WordOf<F>(127)) << 1;
  const F tail = load(exp2_table + 1, index), square = r.high * r.high;
  const F low = r.low + multiply_add(square, polynomial(exp_polynomial, r.high), multiply_add(tail, r.high, tail));
  return {load(exp2_table, index), {r.high, low}, number >> 7};
}
/// Of x, which is from -1400 to 1400.
template <class F>
RADDLE_MATH_INLINE Exponential<F> exponential_of(F x) {
  const F whole = multiply_add(x, F(log2_e_128), F(to_whole)), k = whole - F(to_whole);
  const F high = multiply_add(-k, F(ln2_128_high), x), less = k * F(ln2_128_low), r = high - less;
  return exponential_of<F>(whole, Pair<F>{r, (high - r) - less});
}
/// Of the sum of both.
template <class F>
RADDLE_MATH_INLINE Exponential<F> exponential_of(const Pair<F>& x) {
  const F whole = multiply_add(x.high, F(log2_e_128), F(to_whole)), k = whole - F(to_whole);
  const F high = multiply_add(-k, F(ln2_128_high), x.high), less = k * F(ln2_128_low), r = high - less;
  return exponential_of<F>(whole, ordered_sum(r, ((high - r) - less) + x.low));
}
/// Without 2^exponent.
template <class F>
RADDLE_MATH_INLINE Pair<F> mantissa(const Exponential<F>& e) {
  const Pair<F> first = product(e.top, e.rest.high);
  const Pair<F> all = ordered_sum(e.top, first.high);
  return ordered_sum(all.high, all.low + multiply_add(e.top, e.rest.low, first.low));
}
template <class F>
RADDLE_MATH_INLINE F value_of(const Exponential<F>& e) {
  return scale(multiply_add(e.top, total(e.rest), e.top), e.exponent);
}

template <class F>
RADDLE_MATH_INLINE F exp(F x) {
  const F inside = greatest(least(x, F(710.0)), F(-746.0));
  return select(is_nan(x), not_a_number<F>(), value_of(exponential_of(inside)));
}

template <class F>
RADDLE_MATH_INLINE F exp2(F x) {
  const F inside = greatest(least(x, F(1025.0)), F(-1080.0));
  const F whole = multiply_add(inside, F(128.0), F(to_whole));
  const F rest = multiply_add(whole - F(to_whole), F(-0x1p-7), inside);
  const Pair<F> high = product(rest, F(ln2_high));
  const Pair<F> r{high.high, multiply_add(rest, F(ln2_low), high.low)};
  return select(is_nan(x), not_a_number<F>(), value_of(exponential_of<F>(whole, r)));
}

/// (exp(x) - 1) / 2, of x from -60 to 710
template <class F>
RADDLE_MATH_INLINE Pair<F> half_of_expm1(F x) {
  const Exponential<F> e = exponential_of(x);
  const F half = power_of_two<F>(e.exponent - WordOf<F>(1026));
  const F top = e.top * half;
  const Pair<F> first = product(top, e.rest.high);
  const Pair<F> less = sum(top, F(-0.5)), all = sum(less.high, first.high);
  return ordered_sum(all.high, all.low + less.low + multiply_add(top, e.rest.low, first.low));
}

template <class F>
RADDLE_MATH_INLINE F expm1(F x) {
  const F inside = greatest(least(x, F(709.9)), F(-50.0));
  F result = F(2.0) * total(half_of_expm1(inside));
  result = select(x > F(709.8), F(infinity), result);
  result = select(without_sign(x) < F(0x1p-54), x, result);
  return select(is_nan(x), not_a_number<F>(), result);
}

/// exp(x) / 8 and exp(-x) / 8, of x from 0 to 711
template <class F>
struct BothExponentials {
  Pair<F> up, down;
};
template <class F>
RADDLE_MATH_INLINE BothExponentials<F> exponentials_of(F x) {
  const Exponential<F> e = exponential_of(x);
  const F eighth = power_of_two<F>(e.exponent - WordOf<F>(1028));
  const Pair<F> parts = mantissa(e), up{parts.high * eighth, parts.low * eighth};
  return {up, quotient(Pair<F>{F(0x1p-6), F(0.0)}, up)};
}

template <class F>
RADDLE_MATH_INLINE F sinh(F x) {
  const F size = without_sign(x), square = size * size;
  const BothExponentials<F> both = exponentials_of(least(size, F(711.0)));
  const Pair<F> high = ordered_sum(both.up.high, -both.down.high);
  const F large = F(4.0) * (high.high + (high.low + (both.up.low - both.down.low)));
  const F small = multiply_add(size * square, polynomial(sinh_polynomial, square), size);
  const F result = with_sign(select(size < F(0.3), small, large), sign_of(x));
  return select(is_nan(x), not_a_number<F>(), result);
}

template <class F>
RADDLE_MATH_INLINE F cosh(F x) {
  const BothExponentials<F> both = exponentials_of(least(without_sign(x), F(711.0)));
  const Pair<F> high = ordered_sum(both.up.high, both.down.high);
  const F result = F(4.0) * (high.high + (high.low + (both.up.low + both.down.low)));
  return select(is_nan(x), not_a_number<F>(), result);
}

template <class F>
RADDLE_MATH_INLINE F tanh(F x) {
  const F size = without_sign(x);
  const Pair<F> half = half_of_expm1(least(size + size, F(48.0)));  // of exp(2x) - 1, which + 2 is the divisor
  const Pair<F> divisor = sum(half.high, F(1.0));
  F result = total(quotient(half, Pair<F>{divisor.high, divisor.low + half.low}));
  result = with_sign(select(size < F(0x1p-28), size, result), sign_of(x));
  return select(is_nan(x), not_a_number<F>(), result);
}

}  // namespace raddle::vm::math
