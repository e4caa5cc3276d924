// Eight numbers as one: a number type (Note [number types] in number.hpp) of vectors, for sources that are compiled for
// each processor (Note [for each processor] in vector.hpp), with -O3 -fno-math-errno: everything here is inlined there.
#pragma once
#include "vm/math/number.hpp"
#include "vm/math/vector.hpp"

namespace raddle::vm::math {
inline namespace RADDLE_PROCESSOR {

struct LaneMask {
  using Bits = Vector<int64_t>;
  Bits bits;  ///< of each lane all or none
};

struct LaneWords {
  using Bits = Vector<uint64_t>;
  Bits bits;
  LaneWords() = default;
  RADDLE_MATH_INLINE explicit LaneWords(uint64_t word) : bits(word) {}
  RADDLE_MATH_INLINE explicit LaneWords(const Bits& words) : bits(words) {}
};

struct Lanes {
  using Numbers = Vector<double>;
  Numbers numbers;
  Lanes() = default;
  RADDLE_MATH_INLINE Lanes(double number) : numbers(number) {}
  RADDLE_MATH_INLINE explicit Lanes(const Numbers& all) : numbers(all) {}
};

}  // namespace RADDLE_PROCESSOR

template <>
struct NumberType<Lanes> {
  using Word = LaneWords;
};

inline namespace RADDLE_PROCESSOR {

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

RADDLE_MATH_INLINE LaneWords as_word(const Lanes& x) { return LaneWords(bits_as<uint64_t>(x.numbers)); }
RADDLE_MATH_INLINE Lanes as_float(const LaneWords& word) { return Lanes(bits_as<double>(word.bits)); }

/// Lane by lane: `function` of the lane's number.
template <class T, class Function>
RADDLE_MATH_INLINE Vector<T> each_lane(const Function& function) {
  return each_part<T>([&](int part) RADDLE_MATH_LAMBDA {
    typename Vector<T>::Part all{};
#pragma GCC unroll 8
    for (int lane = 0; lane < Vector<T>::part_lanes; ++lane) all[lane] = function(part, lane);
    return all;
  });
}
RADDLE_MATH_INLINE Lanes multiply_add(const Lanes& a, const Lanes& b, const Lanes& c) {
  return Lanes(each_lane<double>([&](int part, int lane) RADDLE_MATH_LAMBDA {
    return __builtin_fma(a.numbers.parts[part][lane], b.numbers.parts[part][lane], c.numbers.parts[part][lane]);
  }));
}
RADDLE_MATH_INLINE Lanes square_root(const Lanes& x) {
  return Lanes(each_lane<double>([&](int part, int lane)
                                     RADDLE_MATH_LAMBDA { return __builtin_sqrt(x.numbers.parts[part][lane]); }));
}
RADDLE_MATH_INLINE Lanes select(const LaneMask& mask, const Lanes& a, const Lanes& b) {
  return Lanes(select(mask.bits, a.numbers, b.numbers));
}
RADDLE_MATH_INLINE LaneWords select(const LaneMask& mask, const LaneWords& a, const LaneWords& b) {
  return LaneWords(select(mask.bits, a.bits, b.bits));
}
RADDLE_MATH_INLINE Lanes load(const double* table, const LaneWords& index) {
  return Lanes(
      each_lane<double>([&](int part, int lane) RADDLE_MATH_LAMBDA { return table[index.bits.parts[part][lane]]; }));
}
RADDLE_MATH_INLINE LaneWords load(const uint64_t* table, const LaneWords& index) {
  return LaneWords(
      each_lane<uint64_t>([&](int part, int lane) RADDLE_MATH_LAMBDA { return table[index.bits.parts[part][lane]]; }));
}
template <class Result, class Other>
RADDLE_MATH_INLINE Result rarely(const LaneMask& mask, const Result& usual, const Other& other) {
  return any_bit(mask.bits) ? select(mask, other(), usual) : usual;
}

}  // namespace RADDLE_PROCESSOR
}  // namespace raddle::vm::math
