// erf, erfc.
//
// Method: below 1/2 erf(x) = x + x P(x^2). From there on erfc(x) = exp(-x^2) g(x), with x^2 and the exponential in two
// parts and g by a polynomial for each eighth of an octave, whose constant is in two parts, too.
#pragma once
#include "vm/math/exponential.hpp"
#include "vm/math/number.hpp"
#include "vm/math/error_function_tables.hpp"

namespace raddle::vm::math {

/// erfc(x) of x from 1/2 to 27.9, but for 2^(exponent - 2048).
template <class F>
struct ErrorTail {
  Pair<F> mantissa;
  WordOf<F> exponent;
};

template <class F>
RADDLE_MATH_INLINE ErrorTail<F> error_tail(F x) {
  using Word = WordOf<F>;
  const Word start = Word(0x3fe0000000000000);  // 1/2
  const Word interval = (as_word(x) - start) >> 49;
  const F middle = as_float((interval << 49) + start + Word(uint64_t{1} << 48)), h = x - middle;
  const Word index = interval * Word(14);
  F value = load(erfc_table + 13, index);
  for (int i = 12; i >= 2; --i) value = multiply_add(value, h, load(erfc_table + i, index));
  const Pair<F> main = ordered_sum(load(erfc_table, index), value * h);
  const F low = main.low + load(erfc_table + 1, index);
  const Pair<F> square = product(x, x);
  const Exponential<F> e = exponential_of(Pair<F>{-square.high, -square.low});
  const Pair<F> power = mantissa(e), all = product(power.high, main.high);
  return {ordered_sum(all.high, all.low + multiply_add(power.high, low, power.low * main.high)), e.exponent};
}

/// erf(x) - x, of x from 0 to 1/2
template <class F>
RADDLE_MATH_INLINE F small_error(F x) {
  return x * polynomial(erf_polynomial, x * x);
}

template <class F>
RADDLE_MATH_INLINE F erf(F x) {
  const F size = without_sign(x);
  const ErrorTail<F> tail = error_tail(least(greatest(size, F(0.5)), F(6.0)));
  const F unit = power_of_two<F>(tail.exponent - WordOf<F>(1025));
  const Pair<F> rest = ordered_sum(F(1.0), -tail.mantissa.high * unit);
  const F large = rest.high + (rest.low - tail.mantissa.low * unit);
  const F result = with_sign(select(size < F(0.5), size + small_error(size), large), sign_of(x));
  return select(is_nan(x), not_a_number<F>(), result);
}

template <class F>
RADDLE_MATH_INLINE F erfc(F x) {
  const F size = without_sign(x);
  const auto is_negative = x < F(0.0);
  const ErrorTail<F> tail = error_tail(least(greatest(size, F(0.5)), F(27.5)));
  const F right = scale(total(tail.mantissa), tail.exponent);
  const Pair<F> all = ordered_sum(F(2.0), -right);
  const F large = select(is_negative, all.high + all.low, right);
  const F inside = select(size < F(0.5), x, F(0.0));
  const Pair<F> rest = ordered_sum(F(1.0), -inside);
  const F small = rest.high + (rest.low - small_error(inside));
  return select(is_nan(x), not_a_number<F>(), select(size < F(0.5), small, large));
}

}  // namespace raddle::vm::math
