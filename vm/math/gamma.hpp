// lgamma: the logarithm of the absolute value of the gamma function.
//
// Method: from 1/2 to 8 it is (x - 1) (x - 2) g(x), which keeps all digits around its zeros, with g by a polynomial for
// each eighth of an octave, whose constant is in two parts; from -1/2 to 1/2 it is lgamma(1 + x) - log(|x|), and from 8
// on Stirling's series, written so that nothing is taken off what is nearly equal. Below -1/2 it is log(pi / (x sin(pi
// x))) - lgamma(-x), whose zeros come of two terms that cancel: 2^-51 of the larger one is lost.
#pragma once
#include "vm/math/gamma_tables.hpp"
#include "vm/math/logarithm.hpp"
#include "vm/math/number.hpp"

namespace raddle::vm::math {

/// Of x from -1/2 to 8, but not of 0.
template <class F>
RADDLE_MATH_INLINE Pair<F> small_lgamma(F x) {
  using Word = WordOf<F>;
  const auto is_below = x < F(0.5);
  const F y = select(is_below, F(1.0) + x, x);
  const Word start = Word(0x3fe0000000000000);  // 1/2
  const Word interval = (as_word(y) - start) >> 49, index = interval * Word(14);
  const F middle = as_float((interval << 49) + start + Word(uint64_t{1} << 48));
  const F h = x - select(is_below, middle - F(1.0), middle);
  F value = load(lgamma_table + 13, index);
  for (int i = 12; i >= 2; --i) value = multiply_add(value, h, load(lgamma_table + i, index));
  const Pair<F> main = ordered_sum(load(lgamma_table, index), value * h);
  const F main_low = main.low + load(lgamma_table + 1, index);
  const F first = select(is_below, x, x - F(1.0));  // exact
  const Pair<F> second = sum(x, select(is_below, F(-1.0), F(-2.0)));
  const Pair<F> factors = product(first, second.high), all = product(factors.high, main.high);
  const F factors_low = multiply_add(first, second.low, factors.low);
  const F low = all.low + (factors.high * main_low + factors_low * main.high);
  const Pair<F> logarithm = natural_logarithm(select(is_below, without_sign(x), F(1.0)));  // of 1 it is 0
  const Pair<F> high = sum(-logarithm.high, all.high);
  return {high.high, high.low + (low - logarithm.low)};
}

/// Of x from 8 to 2.6e305: (x - 1/2) (log(x) - 1) + (log(2 pi) - 1) / 2 + series(1 / x^2) / x
template <class F>
RADDLE_MATH_INLINE Pair<F> large_lgamma(F x) {
  const Pair<F> logarithm = natural_logarithm(x), less = sum(x, F(-0.5));
  const Pair<F> one_less = ordered_sum(logarithm.high, F(-1.0));
  const F one_less_low = one_less.low + logarithm.low;
  const Pair<F> main = product(less.high, one_less.high);
  const F main_low = main.low + (less.high * one_less_low + less.low * one_less.high);
  const F inverse = F(1.0) / x;
  const Pair<F> all = ordered_sum(main.high, F(stirling_high));
  return {all.high, all.low + (main_low + multiply_add(polynomial(stirling_polynomial, inverse * inverse), inverse,
                                                       F(stirling_low)))};
}

template <class F>
RADDLE_MATH_INLINE F lgamma(F x) {
  const F size = without_sign(x), most = F(0x1.754d9278b51a7p1014);  // the last one whose result is finite
  const auto is_small = size < F(8.0);
  const auto is_around_0 = size < F(0.5);
  const Pair<F> small =
      small_lgamma(select(is_small, select(is_around_0, select(size == F(0.0), F(0.25), x), size), F(1.0)));
  const Pair<F> large = large_lgamma(select(is_small | !(size <= most), F(8.0), size));
  const Pair<F> right = select(is_small, small, large);

  // pi / (x sin(pi x)) = 1 / (x r sine), with r the distance to the nearest whole number
  const F inside = select(is_around_0 | (size >= F(0x1p52)), F(1.0), size);
  const F r = without_sign(inside - ((inside + F(0x1p52)) - F(0x1p52)));
  const F distance = select(r == F(0.0), F(0.5), r);
  const Pair<F> factors = product(inside, distance);
  const F square = distance * distance;
  const Pair<F> sine = ordered_sum(F(1.0), -square * polynomial(sine_polynomial, square));
  const Pair<F> both = product(factors.high, sine.high);
  const Pair<F> logarithm = natural_logarithm(both.high);
  const F rest = (both.low + (factors.high * sine.low + factors.low * sine.high)) / both.high;
  const Pair<F> high = sum(-logarithm.high, -right.high);
  const F left = high.high + (high.low - (logarithm.low + rest + right.low));

  const auto is_left = x <= F(-0.5);
  F result = select(is_left, left, total(right));
  result = select((size > most) | (size == F(0.0)) | (is_left & (r == F(0.0))), F(infinity), result);
  return select(is_nan(x), not_a_number<F>(), result);
}

}  // namespace raddle::vm::math
