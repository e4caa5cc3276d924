// What the functions of this room are written over: a number type F, its words, its masks. These are the types of one
// lane, double and float; lanes.hpp has those of eight.
//
// Note [number types]. A number type has the operators + - * / and comparisons, which give masks that have & | !, and
// can be made of a double, which is rounded. Its `Real` says what a lane is, double or float, its `Word` is an unsigned
// integer of that size of each lane, with + - * & | ^ << >> (of zeros), == and <. And these functions, each defined for
// every bit of its arguments, so that all types of one `Real` give the same bits:
//   as_word, as_float      the bits of one as the other
//   multiply_add(a, b, c)  a * b + c, rounded once
//   square_root
//   select(mask, a, b)     a where the mask is set, b elsewhere
//   load(table, word)      table[word] of each lane
//   rarely(mask, usual, other)  other() where the mask is set, which it rarely is; usual elsewhere. other() is not
//                          computed if it is set nowhere
// No function has a branch else. Who includes this compiles with -ffp-contract=off: a*b + c is rounded twice unless it
// is written with multiply_add. It is C++20 without a standard library, as code of devices has none.
#pragma once
#include <stdint.h>

#define RADDLE_MATH_INLINE [[gnu::always_inline]] inline

namespace raddle::vm::math {

template <class F>
struct NumberType;
template <>
struct NumberType<double> {
  using Real = double;
  using Word = uint64_t;
};
template <>
struct NumberType<float> {
  using Real = float;
  using Word = uint32_t;
};
template <class F>
using WordOf = typename NumberType<F>::Word;

/// IEEE 754's of double and float.
template <class Real>
struct FormatOfReal;
template <>
struct FormatOfReal<double> {
  using Bits = uint64_t;
  static constexpr int mantissa = 52, size = 64;
};
template <>
struct FormatOfReal<float> {
  using Bits = uint32_t;
  static constexpr int mantissa = 23, size = 32;
};
template <class F>
struct Format : FormatOfReal<typename NumberType<F>::Real> {
  using Base = FormatOfReal<typename NumberType<F>::Real>;
  using Bits = typename Base::Bits;
  static constexpr Bits bias = (Bits{1} << (Base::size - Base::mantissa - 2)) - 1;
  static constexpr Bits sign = Bits{1} << (Base::size - 1);
  static constexpr Bits nan = ((Bits{1} << (Base::size - Base::mantissa)) - 1) << (Base::mantissa - 1);
  static constexpr double whole = double(Bits{1} << Base::mantissa);  ///< from here on all numbers are whole
};

RADDLE_MATH_INLINE uint64_t as_word(double x) { return __builtin_bit_cast(uint64_t, x); }
RADDLE_MATH_INLINE double as_float(uint64_t word) { return __builtin_bit_cast(double, word); }
RADDLE_MATH_INLINE double multiply_add(double a, double b, double c) { return __builtin_fma(a, b, c); }
RADDLE_MATH_INLINE uint32_t as_word(float x) { return __builtin_bit_cast(uint32_t, x); }
RADDLE_MATH_INLINE float as_float(uint32_t word) { return __builtin_bit_cast(float, word); }
RADDLE_MATH_INLINE float multiply_add(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
RADDLE_MATH_INLINE double square_root(double x) {
#ifdef __NVPTX__
  return __nvvm_sqrt_rn_d(x);
#elif defined(__clang__)
  return __builtin_elementwise_sqrt(x);  // __builtin_sqrt may call the function `sqrt`, which may be this one
#else
  return __builtin_sqrt(x);
#endif
}
RADDLE_MATH_INLINE float square_root(float x) {
#ifdef __NVPTX__
  return __nvvm_sqrt_rn_f(x);
#elif defined(__clang__)
  return __builtin_elementwise_sqrt(x);
#else
  return __builtin_sqrtf(x);
#endif
}
RADDLE_MATH_INLINE double select(bool mask, double a, double b) { return mask ? a : b; }
RADDLE_MATH_INLINE float select(bool mask, float a, float b) { return mask ? a : b; }
RADDLE_MATH_INLINE uint32_t select(bool mask, uint32_t a, uint32_t b) { return mask ? a : b; }
RADDLE_MATH_INLINE uint64_t select(bool mask, uint64_t a, uint64_t b) { return mask ? a : b; }
RADDLE_MATH_INLINE double load(const double* table, uint64_t index) { return table[index]; }
RADDLE_MATH_INLINE uint64_t load(const uint64_t* table, uint64_t index) { return table[index]; }
RADDLE_MATH_INLINE float load(const float* table, uint32_t index) { return table[index]; }
RADDLE_MATH_INLINE uint32_t load(const uint32_t* table, uint32_t index) { return table[index]; }
template <class Result, class Other>
RADDLE_MATH_INLINE Result rarely(bool mask, const Result& usual, const Other& other) {
  return mask ? other() : usual;
}

// What all types share.

inline constexpr double infinity = __builtin_inf();
inline constexpr uint64_t sign_bit = uint64_t{1} << 63, one_bits = uint64_t{0x3ff} << 52;
/// 1.5 * 2^52: added to a number of less than 2^51 it rounds it to a whole one, whose bits are then the lowest ones.
inline constexpr double to_whole = 0x1.8p52;
inline constexpr uint64_t to_whole_bits = 0x4338000000000000;
/// Of floats, of less than 2^22.
inline constexpr double to_whole32 = 0x1.8p23;
inline constexpr uint32_t to_whole_bits32 = 0x4b400000;

/// The only NaN that functions give.
template <class F>
RADDLE_MATH_INLINE F not_a_number() {
  return as_float(WordOf<F>(Format<F>::nan));
}
template <class F>
RADDLE_MATH_INLINE auto is_nan(F x) {
  return !(x == x);
}
template <class F>
RADDLE_MATH_INLINE F without_sign(F x) {
  return as_float(as_word(x) & WordOf<F>(~Format<F>::sign));
}
/// @param signs  has the sign bit or nothing
template <class F>
RADDLE_MATH_INLINE F with_sign(F x, WordOf<F> signs) {
  return as_float(as_word(x) ^ signs);
}
template <class F>
RADDLE_MATH_INLINE WordOf<F> sign_of(F x) {
  return as_word(x) & WordOf<F>(Format<F>::sign);
}
template <class F>
RADDLE_MATH_INLINE F least(F a, F b) {
  return select(a < b, a, b);
}
template <class F>
RADDLE_MATH_INLINE F greatest(F a, F b) {
  return select(a > b, a, b);
}
/// Of a word below 2^52; of a float below 2^23.
template <class F>
RADDLE_MATH_INLINE F number_of(WordOf<F> word) {
  constexpr auto exponent = (Format<F>::bias + Format<F>::mantissa) << Format<F>::mantissa;
  return as_float(word | WordOf<F>(exponent)) - F(Format<F>::whole);
}
/// 2^exponent. @param biased  exponent + 1023, from 1 to 2046; 0 and 2047 give 0 and infinity. Of a float + 127, to 255
template <class F>
RADDLE_MATH_INLINE F power_of_two(WordOf<F> biased) {
  return as_float(biased << Format<F>::mantissa);
}
/// x * 2^exponent, rounded once. @param biased  exponent + 2048, from 2 to 4092; of a float + 256, from 2 to 508
template <class F>
RADDLE_MATH_INLINE F scale(F x, WordOf<F> biased) {
  const WordOf<F> half = biased >> 1;
  return x * power_of_two<F>(half - WordOf<F>(1)) * power_of_two<F>(biased - half - WordOf<F>(1));
}

/// A sum that is not rounded: `low` is what `high` lacks, or nearly so.
template <class F>
struct Pair {
  F high, low;
};
template <class F>
RADDLE_MATH_INLINE Pair<F> select(decltype(F(0.0) < F(0.0)) mask, const Pair<F>& a, const Pair<F>& b) {
  return {select(mask, a.high, b.high), select(mask, a.low, b.low)};
}
/// Knuth's: any two numbers.
template <class F>
RADDLE_MATH_INLINE Pair<F> sum(F a, F b) {
  const F all = a + b, second = all - a;
  return {all, (a - (all - second)) + (b - second)};
}
/// Dekker's: `a` is 0 or the greater one.
template <class F>
RADDLE_MATH_INLINE Pair<F> ordered_sum(F a, F b) {
  const F all = a + b;
  return {all, (a - all) + b};
}
template <class F>
RADDLE_MATH_INLINE Pair<F> product(F a, F b) {
  const F all = a * b;
  return {all, multiply_add(a, b, -all)};
}
/// a * constant
template <class F>
RADDLE_MATH_INLINE Pair<F> product(const Pair<F>& a, double high, double low) {
  const Pair<F> main = product(a.high, F(high));
  return {main.high, main.low + multiply_add(a.high, F(low), a.low * F(high))};
}
template <class F>
RADDLE_MATH_INLINE Pair<F> quotient(const Pair<F>& a, const Pair<F>& b) {
  const F high = a.high / b.high;
  const F rest = multiply_add(-high, b.high, a.high);
  return {high, (rest + (a.low - high * b.low)) / b.high};
}
template <class F>
RADDLE_MATH_INLINE F total(const Pair<F>& pair) {
  return pair.high + pair.low;
}

/// Coefficients from the constant one up.
template <class F, class Real, int count>
RADDLE_MATH_INLINE F polynomial(const Real (&coefficients)[count], F x) {
  F value(coefficients[count - 1]);
  for (int i = count - 2; i >= 0; --i) value = multiply_add(value, x, F(coefficients[i]));
  return value;
}

}  // namespace raddle::vm::math
