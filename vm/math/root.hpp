// sqrt, cbrt, hypot, and their float32 forms.
#pragma once
#include "vm/math/number.hpp"
#include "vm/math/tables.hpp"
#include "vm/math/tables32.hpp"

namespace raddle::vm::math {

template <class F>
RADDLE_MATH_INLINE F sqrt(F x) {
  return select(x >= F(0.0), square_root(x), not_a_number<F>());
}

template <class F>
RADDLE_MATH_INLINE F sqrt_32(F x) {
  return sqrt(x);
}

/// A polynomial from 1 to 2, a step of Newton's, and one whose error is computed in two parts.
template <class F>
RADDLE_MATH_INLINE F cbrt(F x) {
  using Word = WordOf<F>;
  const F size = without_sign(x);
  const auto is_subnormal = size < F(0x1p-1022);
  const Word bits = as_word(select(is_subnormal, size * F(0x1p54), size)), exponent = bits >> 52;
  const Word third = (exponent * Word(21846)) >> 16, rest = exponent - third * Word(3);  // 1023 is 3 * 341
  const Word fraction = bits & Word((uint64_t{1} << 52) - 1);
  const F mantissa = as_float(fraction | Word(one_bits)), z = as_float(fraction | ((Word(1023) + rest) << 52));
  const F factor = select(rest == Word(0), F(1.0), select(rest == Word(1), F(cbrt_2), F(cbrt_4)));
  F root = polynomial(cbrt_polynomial, mantissa) * factor;
  root = root - multiply_add(root * root, root, -z) / (F(3.0) * root * root);
  const Pair<F> square = product(root, root), cube = product(square.high, root);
  const F missing = ((z - cube.high) - cube.low) - square.low * root;
  root = root + missing / (F(3.0) * square.high);
  const Word biased = third + Word(1023 - 341);
  root = root * power_of_two<F>(select(is_subnormal, biased - Word(18), biased));
  root = select((size == F(0.0)) | (size == F(infinity)), size, root);
  return select(is_nan(x), not_a_number<F>(), with_sign(root, sign_of(x)));
}

/// The same steps, of a polynomial of 9 bits.
template <class F>
RADDLE_MATH_INLINE F cbrt_32(F x) {
  using Word = WordOf<F>;
  const F size = without_sign(x);
  const auto is_subnormal = size < F(0x1p-126);
  const Word bits = as_word(select(is_subnormal, size * F(0x1p24), size)), exponent = (bits >> 23) + Word(2);
  const Word third = (exponent * Word(21846)) >> 16, rest = exponent - third * Word(3);  // 127 + 2 is 3 * 43
  const Word fraction = bits & Word((1 << 23) - 1);
  const F mantissa = as_float(fraction | Word(127 << 23)), z = as_float(fraction | ((Word(127) + rest) << 23));
  const F factor = select(rest == Word(0), F(1.0), select(rest == Word(1), F(cbrt_2), F(cbrt_4)));
  F root = polynomial(cbrt_polynomial32, mantissa) * factor;
  root = root - multiply_add(root * root, root, -z) / (F(3.0) * root * root);
  const Pair<F> square = product(root, root), cube = product(square.high, root);
  const F missing = ((z - cube.high) - cube.low) - square.low * root;
  root = root + missing / (F(3.0) * square.high);
  const Word biased = third + Word(127 - 43);
  root = root * power_of_two<F>(select(is_subnormal, biased - Word(8), biased));
  root = select((size == F(0.0)) | (size == F(infinity)), size, root);
  return select(is_nan(x), not_a_number<F>(), with_sign(root, sign_of(x)));
}

/// From where on numbers are made smaller, from where on greater, and by which powers of 2.
struct HypotenuseScale {
  double large, less, small, more;
};

template <class F>
RADDLE_MATH_INLINE F hypotenuse(F x, F y, const HypotenuseScale& scale) {
  const F first = without_sign(x), second = without_sign(y);
  const F most = select(first > second, first, second);
  const auto is_large = most > F(scale.large), is_small = most < F(scale.small);
  const F factor = select(is_large, F(scale.less), select(is_small, F(scale.more), F(1.0)));
  const F back = select(is_large, F(1.0 / scale.less), select(is_small, F(1.0 / scale.more), F(1.0)));
  const F a = select(first > second, first, second) * factor, b = select(first > second, second, first) * factor;
  const Pair<F> a_square = product(a, a), b_square = product(b, b), all = ordered_sum(a_square.high, b_square.high);
  const F root = square_root(all.high);
  const F missing = multiply_add(-root, root, all.high) + (all.low + (a_square.low + b_square.low));
  F result = (root + select(root == F(0.0), F(0.0), missing / (root + root))) * back;
  result = select(is_nan(x) | is_nan(y), not_a_number<F>(), result);
  return select((first == F(infinity)) | (second == F(infinity)), F(infinity), result);
}
template <class F>
RADDLE_MATH_INLINE F hypot(F x, F y) {
  return hypotenuse(x, y, HypotenuseScale{0x1p500, 0x1p-600, 0x1p-400, 0x1p700});
}
template <class F>
RADDLE_MATH_INLINE F hypot_32(F x, F y) {
  return hypotenuse(x, y, HypotenuseScale{0x1p60, 0x1p-80, 0x1p-40, 0x1p90});
}

}  // namespace raddle::vm::math
