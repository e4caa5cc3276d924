// erf_32, erfc_32.
//
// Method: as in error_function.hpp, with a polynomial of five terms for each eighth of an octave.
#pragma once
#include "vm/math/exponential32.hpp"
#include "vm/math/number.hpp"
#include "vm/math/tables32.hpp"

namespace raddle::vm::math {

/// erfc(x) of x from 1/2 to 10.4, but for 2^(exponent - 256).
template <class F>
struct ErrorTail32 {
  Pair<F> mantissa;
  WordOf<F> exponent;
};

template <class F>
RADDLE_MATH_INLINE ErrorTail32<F> error_tail32(F x) {
  using Word = WordOf<F>;
  const Word start = Word(0x3f000000);  // 1/2
  const Word interval = (as_word(x) - start) >> 20;
  const F middle = as_float((interval << 20) + start + Word(1 << 19)), h = x - middle;
  const Word index = interval * Word(7);
  F value = load(erfc_table32 + 6, index);
  for (int i = 5; i >= 2; --i) value = multiply_add(value, h, load(erfc_table32 + i, index));
  const Pair<F> main = ordered_sum(load(erfc_table32, index), value * h);
  const F low = main.low + load(erfc_table32 + 1, index);
  const Pair<F> square = product(x, x);
  const Exponential32<F> e = exponential32_of(Pair<F>{-square.high, -square.low});
  const Pair<F> power = mantissa32(e), all = product(power.high, main.high);
  return {ordered_sum(all.high, all.low + multiply_add(power.high, low, power.low * main.high)), e.exponent};
}

/// erf(x) - x, of x from 0 to 1/2
template <class F>
RADDLE_MATH_INLINE F small_error32(F x) {
  return x * polynomial(erf_polynomial32, x * x);
}

template <class F>
RADDLE_MATH_INLINE F erf_32(F x) {
  const F size = without_sign(x);
  const ErrorTail32<F> tail = error_tail32(least(greatest(size, F(0.5)), F(4.0)));
  const F unit = power_of_two<F>(tail.exponent - WordOf<F>(129));
  const Pair<F> rest = ordered_sum(F(1.0), -tail.mantissa.high * unit);
  const F large = rest.high + (rest.low - tail.mantissa.low * unit);
  const F result = with_sign(select(size < F(0.5), size + small_error32(size), large), sign_of(x));
  return select(is_nan(x), not_a_number<F>(), result);
}

template <class F>
RADDLE_MATH_INLINE F erfc_32(F x) {
  const F size = without_sign(x);
  const auto is_negative = x < F(0.0);
  const ErrorTail32<F> tail = error_tail32(least(greatest(size, F(0.5)), F(10.4)));
  const F right = scale(total(tail.mantissa), tail.exponent);
  const Pair<F> all = ordered_sum(F(2.0), -right);
  const F large = select(is_negative, all.high + all.low, right);
  const F inside = select(size < F(0.5), x, F(0.0));
  const Pair<F> rest = ordered_sum(F(1.0), -inside);
  const F small = rest.high + (rest.low - small_error32(inside));
  return select(is_nan(x), not_a_number<F>(), select(size < F(0.5), small, large));
}

}  // namespace raddle::vm::math
