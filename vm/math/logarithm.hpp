// log, log2, log10, log1p, pow.
//
// Method: x = 2^k z; z c' = 1 + r, with c' from a table and so short that r is exact; log x = k log 2 - log c' +
// log(1 + r), summed in two parts (the method of pow in ARM's optimized routines). All logarithms take that way, so
// each is the nearest double but for one in some hundreds.
#pragma once
#include "vm/math/exponential.hpp"
#include "vm/math/number.hpp"
#include "vm/math/tables.hpp"

namespace raddle::vm::math {

/// x = 2^whole * (1 + r) * c, with log c in two parts.
template <class F>
struct LogarithmParts {
  F whole, r;
  Pair<F> center;
  F inverse;           ///< 1 / c
  WordOf<F> exponent;  ///< whole + 1023, but for subnormal x
};

/// Of a positive number.
template <class F>
RADDLE_MATH_INLINE LogarithmParts<F> logarithm_parts(F x) {
  using Word = WordOf<F>;
  const auto is_subnormal = x < F(0x1p-1022);
  const Word bits = as_word(select(is_subnormal, x * F(0x1p52), x));
  const Word shifted = bits + Word(one_bits - 0x3fe6955500000000);  // 1 in the middle of an interval
  const Word exponent = shifted >> 52, index = ((shifted >> 45) & Word(127)) * Word(3);
  const F z = as_float(bits - (exponent << 52) + Word(one_bits)), inverse = load(log_table, index);
  return {number_of<F>(exponent) - select(is_subnormal, F(1023.0 + 52.0), F(1023.0)),
          multiply_add(z, inverse, F(-1.0)),
          {load(log_table + 1, index), load(log_table + 2, index)},
          inverse,
          exponent};
}

/// base + log(1 + r), to 2^-67 of it.
template <class F>
RADDLE_MATH_INLINE Pair<F> plus_log1p(const Pair<F>& base, const Pair<F>& r) {
  const Pair<F> first = ordered_sum(base.high, r.high);
  const F half = F(-0.5) * r.high;
  const Pair<F> square = product(r.high, half), second = ordered_sum(first.high, square.high);
  const F rest = r.high * r.high * r.high * polynomial(log_polynomial, r.high);
  const F low = (first.low + base.low) + (square.low + multiply_add(-r.high, r.low, r.low));
  return ordered_sum(second.high, low + second.low + rest);
}

template <class F>
RADDLE_MATH_INLINE Pair<F> natural_logarithm(const LogarithmParts<F>& parts, const Pair<F>& r) {
  const Pair<F> base{multiply_add(parts.whole, F(ln2_cut_high), parts.center.high),  // exact: both are cut at 2^-42
                     multiply_add(parts.whole, F(ln2_cut_low), parts.center.low)};
  return plus_log1p(base, r);
}
template <class F>
RADDLE_MATH_INLINE Pair<F> natural_logarithm(F x) {
  const LogarithmParts<F> parts = logarithm_parts(x);
  return natural_logarithm(parts, Pair<F>{parts.r, F(0.0)});
}

/// What all logarithms give of 0, negative numbers, infinity and NaN.
template <class F>
RADDLE_MATH_INLINE F with_ends(F x, F result) {
  result = select(x == F(infinity), x, result);
  result = select(x == F(0.0), F(-infinity), result);
  return select(x >= F(0.0), result, not_a_number<F>());
}

template <class F>
RADDLE_MATH_INLINE F log(F x) {
  return with_ends(x, total(natural_logarithm(x)));
}

template <class F>
RADDLE_MATH_INLINE F log10(F x) {
  return with_ends(x, total(product(natural_logarithm(x), log10_e_high, log10_e_low)));
}

template <class F>
RADDLE_MATH_INLINE F log2(F x) {
  const LogarithmParts<F> parts = logarithm_parts(x);
  const Pair<F> fraction = product(plus_log1p(parts.center, Pair<F>{parts.r, F(0.0)}), log2_e_high, log2_e_low);
  const Pair<F> all = ordered_sum(parts.whole, fraction.high);
  return with_ends(x, all.high + (all.low + fraction.low));
}

template <class F>
RADDLE_MATH_INLINE F log1p(F x) {
  const Pair<F> more = sum(F(1.0), x);
  const LogarithmParts<F> parts = logarithm_parts(more.high);
  const WordOf<F> counter = select(x < F(0x1p60), WordOf<F>(2046) - parts.exponent, WordOf<F>(0));
  F result = total(natural_logarithm(parts, ordered_sum(parts.r, more.low * power_of_two<F>(counter) * parts.inverse)));
  result = select(without_sign(x) < F(0x1p-54), x, result);
  result = select(x == F(infinity), x, result);
  result = select(x == F(-1.0), F(-infinity), result);
  return select(x >= F(-1.0), result, not_a_number<F>());
}

/// Of a number without sign.
template <class F>
RADDLE_MATH_INLINE auto is_whole(F x) {
  return (x >= F(0x1p52)) | ((x + F(0x1p52)) - F(0x1p52) == x);
}

template <class F>
RADDLE_MATH_INLINE F pow(F x, F y) {
  const F size = without_sign(x), power = without_sign(y);
  const Pair<F> logarithm = natural_logarithm(size);
  const Pair<F> main = product(y, logarithm.high);
  const auto is_inside = without_sign(main.high) < F(1000.0);
  const F low = select(is_inside, multiply_add(y, logarithm.low, main.low), F(0.0));
  const F beyond = select(main.high > F(0.0), F(1000.0), F(-1000.0));
  F result = value_of(exponential_of(Pair<F>{select(is_inside, main.high, beyond), low}));

  const F grows = select(y > F(0.0), F(infinity), F(0.0)), shrinks = select(y > F(0.0), F(0.0), F(infinity));
  result = select(power == F(infinity), select(size > F(1.0), grows, shrinks), result);
  result = select(size == F(infinity), grows, result);
  result = select(size == F(0.0), shrinks, result);
  result = select(size == F(1.0), F(1.0), result);
  const auto is_odd = is_whole(power) & !is_whole(power * F(0.5));
  result = with_sign(result, select(is_odd, sign_of(x), WordOf<F>(0)));
  result = select(y == F(2.0), x * x, result);  // as where the 2 is written
  const auto is_root = (x < F(0.0)) & (size < F(infinity)) & !is_whole(power);
  result = select(is_root | is_nan(x) | is_nan(y), not_a_number<F>(), result);
  return select((x == F(1.0)) | (y == F(0.0)), F(1.0), result);
}

}  // namespace raddle::vm::math
