// Eight numbers as one: number types (Note [number types] in number.hpp) of vectors, for sources that are compiled for
// each processor (Note [for each processor] in vector.hpp), with -O3 -fno-math-errno: everything here is inlined there.
#pragma once
#include "vm/math/number.hpp"
#include "vm/math/vector.hpp"

namespace raddle::vm::math {
inline namespace RADDLE_PROCESSOR {

template <class Real>
struct LaneMaskOf {
  using Bits = Vector<MaskOf<Real>>;
  Bits bits;  ///< of each lane all or none
};

template <class Real>
struct LaneWordsOf {
  using Word = typename FormatOfReal<Real>::Bits;
  using Bits = Vector<Word>;
  Bits bits;
  LaneWordsOf() = default;
  RADDLE_MATH_INLINE explicit LaneWordsOf(Word word) : bits(word) {}
  RADDLE_MATH_INLINE explicit LaneWordsOf(const Bits& words) : bits(words) {}
};

template <class Real>
struct LanesOf {
  using Numbers = Vector<Real>;
  Numbers numbers;
  LanesOf() = default;
  RADDLE_MATH_INLINE LanesOf(double number) : numbers(static_cast<Real>(number)) {}
  RADDLE_MATH_INLINE explicit LanesOf(const Numbers& all) : numbers(all) {}
};

using LaneMask = LaneMaskOf<double>;
using LaneWords = LaneWordsOf<double>;
using Lanes = LanesOf<double>;

}  // namespace RADDLE_PROCESSOR

template <class Real_>
struct NumberType<LanesOf<Real_>> {
  using Real = Real_;
  using Word = LaneWordsOf<Real>;
};

inline namespace RADDLE_PROCESSOR {

#define RADDLE_LANES_OPERATOR(op)                                                                \
  template <class Real>                                                                          \
  RADDLE_MATH_INLINE LanesOf<Real> operator op(const LanesOf<Real>& a, const LanesOf<Real>& b) { \
    return LanesOf<Real>(a.numbers op b.numbers);                                                \
  }
RADDLE_LANES_OPERATOR(+)
RADDLE_LANES_OPERATOR(-)
RADDLE_LANES_OPERATOR(*)
RADDLE_LANES_OPERATOR(/)
#undef RADDLE_LANES_OPERATOR
template <class Real>
RADDLE_MATH_INLINE LanesOf<Real> operator-(const LanesOf<Real>& a) {
  return LanesOf<Real>(-a.numbers);
}

#define RADDLE_LANES_COMPARISON(op)                                                                 \
  template <class Real>                                                                             \
  RADDLE_MATH_INLINE LaneMaskOf<Real> operator op(const LanesOf<Real>& a, const LanesOf<Real>& b) { \
    return {a.numbers op b.numbers};                                                                \
  }
RADDLE_LANES_COMPARISON(==)
RADDLE_LANES_COMPARISON(<)
RADDLE_LANES_COMPARISON(<=)
RADDLE_LANES_COMPARISON(>)
RADDLE_LANES_COMPARISON(>=)
#undef RADDLE_LANES_COMPARISON

#define RADDLE_WORDS_OPERATOR(op)                                                                            \
  template <class Real>                                                                                      \
  RADDLE_MATH_INLINE LaneWordsOf<Real> operator op(const LaneWordsOf<Real>& a, const LaneWordsOf<Real>& b) { \
    return LaneWordsOf<Real>(a.bits op b.bits);                                                              \
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
template <class Real>
RADDLE_MATH_INLINE LaneWordsOf<Real> operator<<(const LaneWordsOf<Real>& a, int by) {
  return LaneWordsOf<Real>(a.bits << by);
}
template <class Real>
RADDLE_MATH_INLINE LaneWordsOf<Real> operator>>(const LaneWordsOf<Real>& a, int by) {
  return LaneWordsOf<Real>(a.bits >> by);
}
template <class Real>
RADDLE_MATH_INLINE LaneMaskOf<Real> operator==(const LaneWordsOf<Real>& a, const LaneWordsOf<Real>& b) {
  return {a.bits == b.bits};
}

template <class Real>
RADDLE_MATH_INLINE LaneMaskOf<Real> operator&(const LaneMaskOf<Real>& a, const LaneMaskOf<Real>& b) {
  return {a.bits & b.bits};
}
template <class Real>
RADDLE_MATH_INLINE LaneMaskOf<Real> operator|(const LaneMaskOf<Real>& a, const LaneMaskOf<Real>& b) {
  return {a.bits | b.bits};
}
template <class Real>
RADDLE_MATH_INLINE LaneMaskOf<Real> operator!(const LaneMaskOf<Real>& a) {
  return {~a.bits};
}

template <class Real>
RADDLE_MATH_INLINE LaneWordsOf<Real> as_word(const LanesOf<Real>& x) {
  return LaneWordsOf<Real>(bits_as<typename LaneWordsOf<Real>::Word>(x.numbers));
}
template <class Real>
RADDLE_MATH_INLINE LanesOf<Real> as_float(const LaneWordsOf<Real>& word) {
  return LanesOf<Real>(bits_as<Real>(word.bits));
}

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
template <class Real>
RADDLE_MATH_INLINE LanesOf<Real> multiply_add(const LanesOf<Real>& a, const LanesOf<Real>& b, const LanesOf<Real>& c) {
  return LanesOf<Real>(each_lane<Real>([&](int part, int lane) RADDLE_MATH_LAMBDA {
    return math::multiply_add(a.numbers.parts[part][lane], b.numbers.parts[part][lane], c.numbers.parts[part][lane]);
  }));
}
template <class Real>
RADDLE_MATH_INLINE LanesOf<Real> square_root(const LanesOf<Real>& x) {
  return LanesOf<Real>(each_lane<Real>(
      [&](int part, int lane) RADDLE_MATH_LAMBDA { return math::square_root(x.numbers.parts[part][lane]); }));
}
template <class Real>
RADDLE_MATH_INLINE LanesOf<Real> select(const LaneMaskOf<Real>& mask, const LanesOf<Real>& a, const LanesOf<Real>& b) {
  return LanesOf<Real>(select(mask.bits, a.numbers, b.numbers));
}
template <class Real>
RADDLE_MATH_INLINE LaneWordsOf<Real> select(const LaneMaskOf<Real>& mask, const LaneWordsOf<Real>& a,
                                            const LaneWordsOf<Real>& b) {
  return LaneWordsOf<Real>(select(mask.bits, a.bits, b.bits));
}
template <class Real>
RADDLE_MATH_INLINE LanesOf<Real> load(const Real* table, const LaneWordsOf<Real>& index) {
  return LanesOf<Real>(
      each_lane<Real>([&](int part, int lane) RADDLE_MATH_LAMBDA { return table[index.bits.parts[part][lane]]; }));
}
template <class Real>
RADDLE_MATH_INLINE LaneWordsOf<Real> load(const typename LaneWordsOf<Real>::Word* table,
                                          const LaneWordsOf<Real>& index) {
  return LaneWordsOf<Real>(each_lane<typename LaneWordsOf<Real>::Word>(
      [&](int part, int lane) RADDLE_MATH_LAMBDA { return table[index.bits.parts[part][lane]]; }));
}
template <class Real, class Result, class Other>
RADDLE_MATH_INLINE Result rarely(const LaneMaskOf<Real>& mask, const Result& usual, const Other& other) {
  return any_bit(mask.bits) ? select(mask, other(), usual) : usual;
}

}  // namespace RADDLE_PROCESSOR
}  // namespace raddle::vm::math
