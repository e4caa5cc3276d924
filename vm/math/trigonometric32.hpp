// sin_32, cos_32, tan_32.
//
// Method: as in trigonometric.hpp; below 2^17 pi/2 is taken off in three parts.
#pragma once
#include "vm/math/number.hpp"
#include "vm/math/tables32.hpp"
#include "vm/math/trigonometric.hpp"

namespace raddle::vm::math {

/// Of x from 0 to 2^17.
template <class F>
RADDLE_MATH_INLINE Angle<F> reduce32(F x) {
  const F whole = multiply_add(x, F(two_over_pi), F(to_whole32)), k = whole - F(to_whole32);
  const F first = multiply_add(-k, F(half_pi_high32), x);  // exact
  const Pair<F> less = product(k, F(half_pi_low32)), rest = sum(first, -less.high);
  return {as_word(whole), ordered_sum(rest.high, rest.low - multiply_add(k, F(half_pi_third32), less.low))};
}

/// @param size  without sign; NaN and infinity give some angle
template <class F>
RADDLE_MATH_INLINE Angle<F> angle32_of(F size) {
  const auto is_large = (size >= F(0x1p17)) & (size < F(infinity));
  return rarely(
      is_large, reduce32(select(size < F(0x1p17), size, F(0.0))), [=]() __attribute__((always_inline)) {
        return reduce_large(select(is_large, size, F(0x1p17)));
      });
}

template <class F>
RADDLE_MATH_INLINE Pair<F> sine32_of(const Pair<F>& r) {
  const F square = r.high * r.high, cube = square * r.high;
  return {r.high,
          multiply_add(cube, polynomial(sin_polynomial32, square), multiply_add(F(-0.5) * square, r.low, r.low))};
}
template <class F>
RADDLE_MATH_INLINE Pair<F> cosine32_of(const Pair<F>& r) {
  const Pair<F> square = product(r.high, r.high);
  const Pair<F> first = ordered_sum(F(1.0), F(-0.5) * square.high);
  const F less = multiply_add(r.high, r.low, F(0.5) * square.low);
  return {first.high,
          first.low + multiply_add(square.high * square.high, polynomial(cos_polynomial32, square.high), -less)};
}

template <class F>
RADDLE_MATH_INLINE F sin_32(F x) {
  const F size = without_sign(x);
  const Angle<F> angle = angle32_of(size);
  const Pair<F> value = select(is_odd_quarter<F>(angle.quarters), cosine32_of(angle.rest), sine32_of(angle.rest));
  const F result = with_sign(total(value), sign_at<F>(angle.quarters) ^ sign_of(x));
  return select(size < F(infinity), result, not_a_number<F>());
}

template <class F>
RADDLE_MATH_INLINE F cos_32(F x) {
  const F size = without_sign(x);
  const Angle<F> angle = angle32_of(size);
  const Pair<F> value = select(is_odd_quarter<F>(angle.quarters), sine32_of(angle.rest), cosine32_of(angle.rest));
  const F result = with_sign(total(value), sign_at<F>(angle.quarters + WordOf<F>(1)));
  return select(size < F(infinity), result, not_a_number<F>());
}

template <class F>
RADDLE_MATH_INLINE F tan_32(F x) {
  const F size = without_sign(x);
  const Angle<F> angle = angle32_of(size);
  const Pair<F> sine = sine32_of(angle.rest), cosine = cosine32_of(angle.rest);
  const auto is_odd = is_odd_quarter<F>(angle.quarters);
  const Pair<F> up = select(is_odd, cosine, sine), down = select(is_odd, sine, cosine);
  const F value = total(quotient(ordered_sum(up.high, up.low), ordered_sum(down.high, down.low)));
  const F result = with_sign(value, ((angle.quarters & WordOf<F>(1)) << 31) ^ sign_of(x));
  return select(size < F(infinity), result, not_a_number<F>());
}

}  // namespace raddle::vm::math
