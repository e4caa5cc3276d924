// sin, cos, tan.
//
// Method: x = q pi/2 + r. Below 2^20 the product is taken off in three parts of pi/2 (Cody and Waite, with fma);
// above, x is multiplied by those 192 bits of 2/pi that matter (Payne and Hanek). Then polynomials of r, in two parts.
#pragma once
#include "vm/math/constants.hpp"
#include "vm/math/number.hpp"
#include "vm/math/tables.hpp"
#include "vm/math/tables32.hpp"

namespace raddle::vm::math {

/// Quarter turns, of which the lowest two bits count, and what is left, from -pi/4 to pi/4.
template <class F>
struct Angle {
  WordOf<F> quarters;
  Pair<F> rest;
};
template <class F>
RADDLE_MATH_INLINE Angle<F> select(decltype(F(0.0) < F(0.0)) mask, const Angle<F>& a, const Angle<F>& b) {
  return {select(mask, a.quarters, b.quarters), select(mask, a.rest, b.rest)};
}

template <class F>
RADDLE_MATH_INLINE WordOf<F> bits_of_two_over_pi(WordOf<F> index) {
  if constexpr (Format<F>::size == 64)
    return load(two_over_pi_bits, index);
  else
    return load(two_over_pi_bits32, index);
}

/// Of x from 0 to 2^20.
template <class F>
RADDLE_MATH_INLINE Angle<F> reduce(F x) {
  const F whole = multiply_add(x, F(two_over_pi), F(to_whole)), k = whole - F(to_whole);
  const F first = multiply_add(-k, F(half_pi_high), x);  // exact
  const Pair<F> less = product(k, F(half_pi_low)), rest = sum(first, -less.high);
  return {as_word(whole), ordered_sum(rest.high, rest.low - multiply_add(k, F(half_pi_third), less.low))};
}

/// Of x from 2^20 to infinity, not including it; of a float from 2^7 on.
template <class F>
RADDLE_MATH_INLINE Angle<F> reduce_large(F x) {
  using Word = WordOf<F>;
  using Bits = typename Format<F>::Bits;
  constexpr int fraction = Format<F>::mantissa, size = Format<F>::size, half_size = size / 2;
  const Word low_half = Word((Bits{1} << half_size) - 1), bits = as_word(x);
  const Word mantissa = (bits & Word((Bits{1} << fraction) - 1)) | Word(Bits{1} << fraction);
  const Word factor_low = mantissa & low_half, factor_high = mantissa >> half_size;
  // x = mantissa * 2^(e - 1075). The bits of 2/pi that come before `offset` give whole turns.
  const Word offset = (bits >> fraction) - Word(Format<F>::bias + fraction - (size - 2));
  const Word at = offset >> (size == 64 ? 6 : 5), shift = offset & Word(size - 1);
  Word limbs[6];  // 192 bits of 2/pi, or 96, the lowest first, half a word in each
  for (int i = 0; i < 3; ++i) {
    const Word word = bits_of_two_over_pi<F>(at + Word(static_cast<Bits>(2 - i)));
    const Word next = bits_of_two_over_pi<F>(at + Word(static_cast<Bits>(3 - i)));
    const Word part = (word << shift) | ((next >> 1) >> (Word(size - 1) - shift));
    limbs[2 * i] = part & low_half;
    limbs[2 * i + 1] = part >> half_size;
  }
  Word carry = Word(0), high_of_low = Word(0), high_of_high = Word(0), last = Word(0);
  for (int i = 0; i < 6; ++i) {  // as many of the lowest bits of the product
    const Word low = factor_low * limbs[i], high = factor_high * last;
    last = limbs[i];
    const Word column = (low & low_half) + (high & low_half) + high_of_low + high_of_high + carry;
    high_of_low = low >> half_size, high_of_high = high >> half_size;
    limbs[i] = column & low_half;
    carry = column >> half_size;
  }
  // Two bits of quarters, then the fraction: from a half up it counts as negative.
  const Word top = limbs[5], half = (top >> (half_size - 3)) & Word(1);
  const Word flip = Word(0) - half, below_quarters = Word((Bits{1} << (half_size - 2)) - 1);
  constexpr double next_unit = 1.0 / static_cast<double>(Bits{1} << half_size);
  F high = F(0.0), low = F(0.0), unit = F(4.0 * next_unit);
  for (int i = 5; i >= 0; --i, unit = unit * F(next_unit)) {
    Word limb = (limbs[i] ^ flip) & (i == 5 ? below_quarters : low_half);
    const Pair<F> next = ordered_sum(high, low + number_of<F>(limb) * unit);
    high = next.high, low = next.low;
  }
  const Pair<F> rest = product(Pair<F>{high, low}, half_pi<F>.high, half_pi<F>.low);
  const Pair<F> ordered = ordered_sum(rest.high, rest.low);
  const Word sign = half << (size - 1);
  return {(top >> (half_size - 2)) + half, {with_sign(ordered.high, sign), with_sign(ordered.low, sign)}};
}

/// @param size  without sign; NaN and infinity give some angle
template <class F>
RADDLE_MATH_INLINE Angle<F> angle_of(F size) {
  const auto is_large = (size >= F(0x1p20)) & (size < F(infinity));
  return rarely(
      is_large, reduce(select(size < F(0x1p20), size, F(0.0))), [=]() __attribute__((always_inline)) {
        return reduce_large(select(is_large, size, F(0x1p20)));
      });
}

template <class F>
RADDLE_MATH_INLINE Pair<F> sine_of(const Pair<F>& r) {
  const F square = r.high * r.high;
  const F cube = square * r.high;
  return {r.high, multiply_add(cube, polynomial(sin_polynomial, square), multiply_add(F(-0.5) * square, r.low, r.low))};
}
template <class F>
RADDLE_MATH_INLINE Pair<F> cosine_of(const Pair<F>& r) {
  const Pair<F> square = product(r.high, r.high);
  const F half = F(0.5) * square.high;
  const Pair<F> first = ordered_sum(F(1.0), -half);
  const F less = multiply_add(r.high, r.low, F(0.5) * square.low);
  return {first.high,
          first.low + multiply_add(square.high * square.high, polynomial(cos_polynomial, square.high), -less)};
}
/// @param mask  of the lowest bits of quarters
template <class F>
RADDLE_MATH_INLINE WordOf<F> sign_at(WordOf<F> quarters) {
  return (quarters & WordOf<F>(2)) << (Format<F>::size - 2);
}
template <class F>
RADDLE_MATH_INLINE auto is_odd_quarter(WordOf<F> quarters) {
  return (quarters & WordOf<F>(1)) == WordOf<F>(1);
}

template <class F>
RADDLE_MATH_INLINE F sin(F x) {
  const F size = without_sign(x);
  const Angle<F> angle = angle_of(size);
  const Pair<F> value = select(is_odd_quarter<F>(angle.quarters), cosine_of(angle.rest), sine_of(angle.rest));
  const F result = with_sign(total(value), sign_at<F>(angle.quarters) ^ sign_of(x));
  return select(size < F(infinity), result, not_a_number<F>());
}

template <class F>
RADDLE_MATH_INLINE F cos(F x) {
  const F size = without_sign(x);
  const Angle<F> angle = angle_of(size);
  const Pair<F> value = select(is_odd_quarter<F>(angle.quarters), sine_of(angle.rest), cosine_of(angle.rest));
  const F result = with_sign(total(value), sign_at<F>(angle.quarters + WordOf<F>(1)));
  return select(size < F(infinity), result, not_a_number<F>());
}

template <class F>
RADDLE_MATH_INLINE F tan(F x) {
  const F size = without_sign(x);
  const Angle<F> angle = angle_of(size);
  const Pair<F> sine = sine_of(angle.rest), cosine = cosine_of(angle.rest);
  const auto is_odd = is_odd_quarter<F>(angle.quarters);
  const Pair<F> up = select(is_odd, cosine, sine), down = select(is_odd, sine, cosine);
  const F value = total(quotient(ordered_sum(up.high, up.low), ordered_sum(down.high, down.low)));
  const F result = with_sign(value, ((angle.quarters & WordOf<F>(1)) << 63) ^ sign_of(x));
  return select(size < F(infinity), result, not_a_number<F>());
}

}  // namespace raddle::vm::math
