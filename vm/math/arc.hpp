// atan, atan2, asin, acos.
//
// Method: all are the angle of a point (b, a). For 0 <= a <= b, c = i/64 next to a/b: atan(a/b) = atan(c) +
// atan((a - c b) / (b + c a)), the first from a table, the second by a polynomial, both in two parts.
#pragma once
#include "vm/math/constants.hpp"
#include "vm/math/number.hpp"
#include "vm/math/tables.hpp"

namespace raddle::vm::math {

/// Of (b, a): 0 <= a <= b, b from 1/2 to 2^60.
template <class F>
RADDLE_MATH_INLINE Pair<F> first_octant(const Pair<F>& a, const Pair<F>& b) {
  const F whole = multiply_add(a.high / b.high, F(64.0), F(to_whole)), c = (whole - F(to_whole)) * F(0x1p-6);
  const WordOf<F> index = (as_word(whole) & WordOf<F>(127)) << 1;
  const F above = multiply_add(-c, b.high, a.high);  // exact
  const F below = multiply_add(c, a.high, b.high), below_low = multiply_add(c, a.high, b.high - below);
  const F inverse = F(1.0) / below, s = above * inverse;
  const F rest = multiply_add(-s, below, above) +
                 (multiply_add(-c, b.low, a.low) - s * (below_low + multiply_add(c, a.low, b.low)));
  const F square = s * s;
  const F low = multiply_add(square * s, polynomial(atan_polynomial, square), rest * inverse);
  const Pair<F> first = ordered_sum(load(atan_table, index), s);
  return {first.high, first.low + (load(atan_table + 1, index) + low)};
}

/// The angle of (b, a), neither with a sign, given that of the octant; or pi less it.
template <class F, class Mask>
RADDLE_MATH_INLINE F in_half_plane(const Pair<F>& octant, Mask is_steep, Mask is_left) {
  const F base_high = select(is_steep, F(half_pi<F>.high), select(is_left, F(pi<F>.high), F(0.0)));
  const F base_low = select(is_steep, F(half_pi<F>.low), select(is_left, F(pi<F>.low), F(0.0)));
  const WordOf<F> minus = WordOf<F>(Format<F>::sign), plus = WordOf<F>(0);
  const WordOf<F> sign = select(is_steep, minus, plus) ^ select(is_left, minus, plus);
  const Pair<F> high = ordered_sum(base_high, with_sign(octant.high, sign));
  return high.high + (high.low + (base_low + with_sign(octant.low, sign)));
}

template <class F>
RADDLE_MATH_INLINE F atan(F x) {
  const F size = least(without_sign(x), F(0x1p60));
  const auto is_steep = size > F(1.0);
  const Pair<F> a{select(is_steep, F(1.0), size), F(0.0)}, b{select(is_steep, size, F(1.0)), F(0.0)};
  const F result = in_half_plane(first_octant(a, b), is_steep, F(1.0) < F(0.0));
  return select(is_nan(x), not_a_number<F>(), with_sign(result, sign_of(x)));
}

template <class F>
RADDLE_MATH_INLINE F atan2(F y, F x) {
  using Word = WordOf<F>;
  const F up = select(is_nan(y), F(1.0), without_sign(y)), right = select(is_nan(x), F(1.0), without_sign(x));
  const auto is_steep = up > right, is_left = sign_of(x) == Word(sign_bit);
  F a = select(is_steep, right, up), b = select(is_steep, up, right);
  a = select(b == F(infinity), select(a == F(infinity), F(1.0), F(0.0)), a);
  b = select((b == F(infinity)) | (b == F(0.0)), F(1.0), b);
  const auto is_subnormal = b < F(0x1p-1022);
  const F more = select(is_subnormal, F(0x1p60), F(1.0));
  const F a_more = a * more, b_more = b * more;
  // Both by the power of two that brings b into [1, 2); by half of it at a time, as all of it may be too much.
  const Word biased = Word(2046 + 2) - (as_word(b_more) >> 52), half = biased >> 1;
  const F first = power_of_two<F>(half + Word(511)), second = power_of_two<F>(biased - half + Word(510));
  const F a_scaled = a_more * first * second, b_scaled = b_more * first * second;
  F result = in_half_plane(first_octant(Pair<F>{a_scaled, F(0.0)}, Pair<F>{b_scaled, F(0.0)}), is_steep, is_left);
  const auto is_flat = (up <= right) & (sign_of(x) == Word(0)) & (a_scaled < F(0x1p-60));
  result = select(is_flat, a / b, result);  // as it may be subnormal
  result = with_sign(result, sign_of(y));
  return select(is_nan(x) | is_nan(y), not_a_number<F>(), result);
}

/// sqrt(1 - x^2), of x from 0 to 1
template <class F>
RADDLE_MATH_INLINE Pair<F> other_side(F x) {
  const Pair<F> square = product(x, x), rest = ordered_sum(F(1.0), -square.high);
  const F root = square_root(rest.high);
  const F low = (multiply_add(-root, root, rest.high) + (rest.low - square.low)) / (root + root);
  return {root, select(root == F(0.0), F(0.0), low)};
}

template <class F>
RADDLE_MATH_INLINE F asin(F x) {
  const F size = least(without_sign(x), F(1.0));
  const Pair<F> other = other_side(size), this_side{size, F(0.0)};
  const auto is_steep = size > other.high;
  const Pair<F> octant = first_octant(select(is_steep, other, this_side), select(is_steep, this_side, other));
  const F result = with_sign(in_half_plane(octant, is_steep, F(1.0) < F(0.0)), sign_of(x));
  return select(without_sign(x) <= F(1.0), result, not_a_number<F>());
}

template <class F>
RADDLE_MATH_INLINE F acos(F x) {
  const F size = least(without_sign(x), F(1.0));
  const Pair<F> other = other_side(size), this_side{size, F(0.0)};
  const auto is_steep = other.high > size;
  const Pair<F> octant = first_octant(select(is_steep, this_side, other), select(is_steep, other, this_side));
  const F result = in_half_plane(octant, is_steep, x < F(0.0));
  return select(without_sign(x) <= F(1.0), result, not_a_number<F>());
}

}  // namespace raddle::vm::math
