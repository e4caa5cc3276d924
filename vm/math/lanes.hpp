// Eight numbers as one: a number type (Note [number types] in number.hpp) of GCC's vectors, of which a processor takes
// as much at once as it can. For functions that are compiled for each processor, with -O3 -fno-math-errno: everything
// here is inlined into them.
#pragma once
#include "vm/math/number.hpp"

namespace raddle::vm::math {

inline constexpr int lane_count = 8;

struct LaneMask {
  typedef int64_t Bits __attribute__((vector_size(lane_count * 8), may_alias));
  Bits bits;  ///< of each lane all or none
};

struct LaneWords {
  typedef uint64_t Bits __attribute__((vector_size(lane_count * 8), may_alias));
  Bits bits;
  LaneWords() = default;
  RADDLE_MATH_INLINE explicit LaneWords(uint64_t word) : bits(Bits{} + word) {}
  RADDLE_MATH_INLINE explicit LaneWords(Bits words) : bits(words) {}
};

struct Lanes {
  typedef double Numbers __attribute__((vector_size(lane_count * 8), may_alias));
  Numbers numbers;
  Lanes() = default;
  RADDLE_MATH_INLINE Lanes(double number) : numbers(number - Numbers{}) {}  // of -0.0, too
  RADDLE_MATH_INLINE explicit Lanes(Numbers all) : numbers(all) {}
};

template <>
struct NumberType<Lanes> {
  using Word = LaneWords;
};

#define RADDLE_LANES_OPERATOR(op) \
  RADDLE_MATH_INLINE Lanes operator op(const Lanes& a, const Lanes& b) { return Lanes(a.numbers op b.numbers); }
RADDLE_LANES_OPERATOR(+)
RADDLE_LANES_OPERATOR(-)
RADDLE_LANES_OPERATOR(*)
RADDLE_LANES_OPERATOR(/)
#undef RADDLE_LANES_OPERATOR
RADDLE_MATH_INLINE Lanes operator-(const Lanes& a) { return Lanes(-a.numbers); }

#define RADDLE_LANES_COMPARISON(op) \
  RADDLE_MATH_INLINE LaneMask operator op(const Lanes& a, const Lanes& b) { return {a.numbers op b.numbers}; }
RADDLE_LANES_COMPARISON(==)
RADDLE_LANES_COMPARISON(<)
RADDLE_LANES_COMPARISON(<=)
RADDLE_LANES_COMPARISON(>)
RADDLE_LANES_COMPARISON(>=)
#undef RADDLE_LANES_COMPARISON

#define RADDLE_WORDS_OPERATOR(op)                                                    \
  RADDLE_MATH_INLINE LaneWords operator op(const LaneWords& a, const LaneWords& b) { \
    return LaneWords(a.bits op b.bits);                                              \
  }
RADDLE_WORDS_OPERATOR(+)
RADDLE_WORDS_OPERATOR(-)
RADDLE_WORDS_OPERATOR(*)
RADDLE_WORDS_OPERATOR(&)
RADDLE_WORDS_OPERATOR(|)
RADDLE_WORDS_OPERATOR(^)
RADDLE_WORDS_OPERATOR(<<)
RADDLE_WORDS_OPERATOR(>>)
#undef RADDLE_WORDS_OPERATOR
RADDLE_MATH_INLINE LaneWords operator<<(const LaneWords& a, int by) { return LaneWords(a.bits << by); }
RADDLE_MATH_INLINE LaneWords operator>>(const LaneWords& a, int by) { return LaneWords(a.bits >> by); }
RADDLE_MATH_INLINE LaneMask operator==(const LaneWords& a, const LaneWords& b) { return {a.bits == b.bits}; }

RADDLE_MATH_INLINE LaneMask operator&(const LaneMask& a, const LaneMask& b) { return {a.bits & b.bits}; }
RADDLE_MATH_INLINE LaneMask operator|(const LaneMask& a, const LaneMask& b) { return {a.bits | b.bits}; }
RADDLE_MATH_INLINE LaneMask operator!(const LaneMask& a) { return {~a.bits}; }

RADDLE_MATH_INLINE LaneWords as_word(const Lanes& x) { return LaneWords((LaneWords::Bits)x.numbers); }
RADDLE_MATH_INLINE Lanes as_float(const LaneWords& word) { return Lanes((Lanes::Numbers)word.bits); }
RADDLE_MATH_INLINE Lanes multiply_add(const Lanes& a, const Lanes& b, const Lanes& c) {
  Lanes all;
  for (int i = 0; i < lane_count; ++i) all.numbers[i] = __builtin_fma(a.numbers[i], b.numbers[i], c.numbers[i]);
  return all;
}
RADDLE_MATH_INLINE Lanes square_root(const Lanes& x) {
  Lanes all;
  for (int i = 0; i < lane_count; ++i) all.numbers[i] = __builtin_sqrt(x.numbers[i]);
  return all;
}
RADDLE_MATH_INLINE Lanes select(const LaneMask& mask, const Lanes& a, const Lanes& b) {
  return Lanes(mask.bits ? a.numbers : b.numbers);
}
RADDLE_MATH_INLINE LaneWords select(const LaneMask& mask, const LaneWords& a, const LaneWords& b) {
  return LaneWords(mask.bits ? a.bits : b.bits);
}
RADDLE_MATH_INLINE Lanes load(const double* table, const LaneWords& index) {
  Lanes all;
  for (int i = 0; i < lane_count; ++i) all.numbers[i] = table[index.bits[i]];
  return all;
}
RADDLE_MATH_INLINE LaneWords load(const uint64_t* table, const LaneWords& index) {
  LaneWords all;
  for (int i = 0; i < lane_count; ++i) all.bits[i] = table[index.bits[i]];
  return all;
}
template <class Result, class Other>
RADDLE_MATH_INLINE Result rarely(const LaneMask& mask, const Result& usual, const Other& other) {
  int64_t all = 0;
  for (int i = 0; i < lane_count; ++i) all |= mask.bits[i];
  return all == 0 ? usual : select(mask, other(), usual);
}

}  // namespace raddle::vm::math
