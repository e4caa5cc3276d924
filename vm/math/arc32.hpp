// atan_32, atan2_32, asin_32, acos_32.
//
// Method: as in arc.hpp, without a table: what is nearer to the diagonal than to the axis is pi/4 + atan((a - b) / (a +
// b)).
#pragma once
#include "vm/math/arc.hpp"
#include "vm/math/number.hpp"
#include "vm/math/tables32.hpp"

namespace raddle::vm::math {

/// Of (b, a): 0 <= a <= b, b from 2^-60 to 2^60.
template <class F>
RADDLE_MATH_INLINE Pair<F> first_octant32(const Pair<F>& a, const Pair<F>& b) {
  const auto is_far = a.high > b.high * F(0.41421356237309503);
  const Pair<F> less = sum(a.high, -b.high), more = sum(b.high, a.high);
  const Pair<F> up = select(is_far, Pair<F>{less.high, less.low + (a.low - b.low)}, a);
  const Pair<F> t = quotient(up, select(is_far, Pair<F>{more.high, more.low + (a.low + b.low)}, b));
  const F square = t.high * t.high;
  const F rest =
      multiply_add(square * t.high, polynomial(atan_polynomial32, square), multiply_add(-square, t.low, t.low));
  const Pair<F> first = ordered_sum(select(is_far, F(0.5 * half_pi_high32), F(0.0)), t.high);
  return {first.high, first.low + (select(is_far, F(0.5 * half_pi_low32), F(0.0)) + rest)};
}

template <class F>
RADDLE_MATH_INLINE F atan_32(F x) {
  const F size = least(without_sign(x), F(0x1p60));
  const auto is_steep = size > F(1.0);
  const Pair<F> a{select(is_steep, F(1.0), size), F(0.0)}, b{select(is_steep, size, F(1.0)), F(0.0)};
  const F result = in_half_plane(first_octant32(a, b), is_steep, F(1.0) < F(0.0));
  return select(is_nan(x), not_a_number<F>(), with_sign(result, sign_of(x)));
}

template <class F>
RADDLE_MATH_INLINE F atan2_32(F y, F x) {
  using Word = WordOf<F>;
  const F up = select(is_nan(y), F(1.0), without_sign(y)), right = select(is_nan(x), F(1.0), without_sign(x));
  const auto is_steep = up > right, is_left = sign_of(x) == Word(Format<F>::sign);
  F a = select(is_steep, right, up), b = select(is_steep, up, right);
  a = select(b == F(infinity), select(a == F(infinity), F(1.0), F(0.0)), a);
  b = select((b == F(infinity)) | (b == F(0.0)), F(1.0), b);
  const auto is_subnormal = b < F(0x1p-126);
  const F more = select(is_subnormal, F(0x1p30), F(1.0));
  const F a_more = a * more, b_more = b * more;
  // Both by the power of two that brings b into [1, 2); by half of it at a time, as all of it may be too much.
  const Word biased = Word(254 + 2) - (as_word(b_more) >> 23), half = biased >> 1;
  const F first = power_of_two<F>(half + Word(63)), second = power_of_two<F>(biased - half + Word(62));
  const F a_scaled = a_more * first * second, b_scaled = b_more * first * second;
  F result = in_half_plane(first_octant32(Pair<F>{a_scaled, F(0.0)}, Pair<F>{b_scaled, F(0.0)}), is_steep, is_left);
  const auto is_flat = (up <= right) & (sign_of(x) == Word(0)) & (a_scaled < F(0x1p-30));
  result = select(is_flat, a / b, result);  // as it may be subnormal
  result = with_sign(result, sign_of(y));
  return select(is_nan(x) | is_nan(y), not_a_number<F>(), result);
}

template <class F>
RADDLE_MATH_INLINE F asin_32(F x) {
  const F size = least(without_sign(x), F(1.0));
  const Pair<F> other = other_side(size), this_side{size, F(0.0)};
  const auto is_steep = size > other.high;
  const Pair<F> octant = first_octant32(select(is_steep, other, this_side), select(is_steep, this_side, other));
  const F result = with_sign(in_half_plane(octant, is_steep, F(1.0) < F(0.0)), sign_of(x));
  return select(without_sign(x) <= F(1.0), result, not_a_number<F>());
}

template <class F>
RADDLE_MATH_INLINE F acos_32(F x) {
  const F size = least(without_sign(x), F(1.0));
  const Pair<F> other = other_side(size), this_side{size, F(0.0)};
  const auto is_steep = other.high > size;
  const Pair<F> octant = first_octant32(select(is_steep, this_side, other), select(is_steep, other, this_side));
  const F result = in_half_plane(octant, is_steep, x < F(0.0));
  return select(without_sign(x) <= F(1.0), result, not_a_number<F>());
}

}  // namespace raddle::vm::math
