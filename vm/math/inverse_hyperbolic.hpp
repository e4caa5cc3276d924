// asinh, acosh, atanh.
//
// Method: all are log(1 + s), with s in two parts. Of numbers from 2^30 on asinh and acosh are log(2x), as what that
// lacks is less than 2^-66 of it; near 0 asinh and atanh are the first terms of their series.
#pragma once
#include "vm/math/logarithm.hpp"
#include "vm/math/number.hpp"

namespace raddle::vm::math {

/// log(2x) where x is large, elsewhere log(1 + s), of s from 0 to 2^55.
template <class F, class Mask>
RADDLE_MATH_INLINE F log_of_more(const Pair<F>& s, Mask is_large, F x) {
  using Word = WordOf<F>;
  const Pair<F> more = sum(F(1.0), s.high);
  LogarithmParts<F> parts = logarithm_parts(select(is_large, x, more.high));
  parts.whole = parts.whole + select(is_large, F(1.0), F(0.0));
  const Word counter = select(is_large, Word(0), Word(2046) - parts.exponent);  // 2^-whole, or 0
  const F low = (more.low + s.low) * power_of_two<F>(counter) * parts.inverse;
  return total(natural_logarithm(parts, ordered_sum(parts.r, low)));
}

/// The root of a number in two parts, not below 0.
template <class F>
RADDLE_MATH_INLINE Pair<F> root_of(const Pair<F>& square) {
  const F root = square_root(square.high);
  const F missing = multiply_add(-root, root, square.high) + square.low;
  return {root, select(root == F(0.0), F(0.0), missing / (root + root))};
}

/// log(x + sqrt(x^2 + 1)): s = x + x^2 / (1 + sqrt(x^2 + 1))
template <class F>
RADDLE_MATH_INLINE F asinh(F x) {
  const F size = without_sign(x);
  const auto is_large = size >= F(0x1p30);
  const F inside = select(is_large, F(1.0), size);
  const Pair<F> square = product(inside, inside), more = sum(F(1.0), square.high);
  const Pair<F> root = root_of(Pair<F>{more.high, more.low + square.low}), below = ordered_sum(root.high, F(1.0));
  const Pair<F> rest = quotient(square, Pair<F>{below.high, below.low + root.low});
  const Pair<F> s = ordered_sum(inside, rest.high);
  F result = log_of_more(Pair<F>{s.high, s.low + rest.low}, is_large, size);
  result = select(size < F(0x1p-20), multiply_add(inside * square.high, F(-1.0 / 6.0), size), result);
  result = select(size == F(infinity), size, result);
  return select(is_nan(x), not_a_number<F>(), with_sign(result, sign_of(x)));
}

/// log(x + sqrt(x^2 - 1)): s = x - 1 + sqrt((x - 1) (x + 1))
template <class F>
RADDLE_MATH_INLINE F acosh(F x) {
  const auto is_large = x >= F(0x1p30);
  const F inside = select((x >= F(1.0)) & !is_large, x, F(1.0));
  const Pair<F> less = sum(inside, F(-1.0)), more = sum(inside, F(1.0));
  const Pair<F> square = product(less.high, more.high);
  const F square_low = square.low + (less.high * more.low + less.low * more.high);
  const Pair<F> root = root_of(Pair<F>{square.high, square_low}), s = ordered_sum(root.high, less.high);
  F result = log_of_more(Pair<F>{s.high, s.low + (root.low + less.low)}, is_large, x);
  result = select(x == F(infinity), x, result);
  return select(x >= F(1.0), result, not_a_number<F>());
}

/// log((1 + x) / (1 - x)) / 2: s = 2x / (1 - x)
template <class F>
RADDLE_MATH_INLINE F atanh(F x) {
  const F size = without_sign(x);
  const F inside = select(size < F(1.0), size, F(0.0));
  const Pair<F> s = quotient(Pair<F>{inside + inside, F(0.0)}, ordered_sum(F(1.0), -inside));
  F result = F(0.5) * log_of_more(s, F(1.0) < F(0.0), F(1.0));
  result = select(size < F(0x1p-20), multiply_add(inside * inside * inside, F(1.0 / 3.0), size), result);
  result = select(size == F(1.0), F(infinity), result);
  return select(size <= F(1.0), with_sign(result, sign_of(x)), not_a_number<F>());
}

}  // namespace raddle::vm::math
