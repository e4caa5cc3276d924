// Eight numbers of 64 bits, or of 32, in registers of the processor that a source is compiled for.
//
// Note [for each processor]. Sources in which many numbers are computed at once are compiled several times, each time
// for one processor (raddle_for_each_processor in CMakeLists.txt; Processor in processor.hpp) and with its name as
// RADDLE_PROCESSOR. Whatever they define is in a namespace of that name, else the linker would take one version for
// all; and they include nothing of the standard library that is not inlined. Instead of GCC's target_clones: GCC takes
// vectors apart, as the least processor needs it, in each function before it is inlined into a clone. With AVX2 and
// without AVX-512 sums of arrays took twenty times as long so.
#pragma once
#include <stdint.h>

#include "vm/math/number.hpp"

#if defined(__AVX512F__) && defined(__AVX512DQ__)
#define RADDLE_VECTOR_BYTES 64
#elif defined(__AVX2__)
#define RADDLE_VECTOR_BYTES 32
#else
#define RADDLE_VECTOR_BYTES 16
#endif

#define RADDLE_MATH_LAMBDA __attribute__((always_inline))  // behind its parameters

namespace raddle::vm::math {
inline namespace RADDLE_PROCESSOR {

inline constexpr int lane_count = 8;

template <int size>
struct IntOfSize;
template <>
struct IntOfSize<8> {
  using Type = int64_t;
};
template <>
struct IntOfSize<4> {
  using Type = int32_t;
};
/// What masks of Vector<T> consist of.
template <class T>
using MaskOf = typename IntOfSize<sizeof(T)>::Type;

/// @tparam T  double, int64_t, uint64_t, float, int32_t, uint32_t
template <class T>
struct Vector {
  static constexpr int most_lanes = RADDLE_VECTOR_BYTES / static_cast<int>(sizeof(T));
  static constexpr int part_lanes = most_lanes < lane_count ? most_lanes : lane_count,
                       part_count = lane_count / part_lanes;
  typedef T Part __attribute__((vector_size(part_lanes * sizeof(T)), may_alias));
  Part parts[part_count];

  Vector() = default;  // Vector{} is 0 in all lanes
  RADDLE_MATH_INLINE explicit Vector(T all) {
    for (Part& part : parts) part = all - Part{};  // of -0.0, too
  }
  RADDLE_MATH_INLINE T operator[](int lane) const { return parts[lane / part_lanes][lane % part_lanes]; }
  RADDLE_MATH_INLINE void set(int lane, T value) { parts[lane / part_lanes][lane % part_lanes] = value; }

  /// By parts: GCC copies them all together by way of the stack. @param numbers  aligned as one number is
  RADDLE_MATH_INLINE static Vector load(const void* numbers) {
    Vector all;
#pragma GCC unroll 4
    for (int i = 0; i < part_count; ++i) all.parts[i] = static_cast<const LoosePart*>(numbers)[i];
    return all;
  }
  RADDLE_MATH_INLINE void store(void* numbers) const {
#pragma GCC unroll 4
    for (int i = 0; i < part_count; ++i) static_cast<LoosePart*>(numbers)[i] = parts[i];
  }

 private:
  typedef T LoosePart __attribute__((vector_size(part_lanes * sizeof(T)), may_alias, aligned(sizeof(T))));
};

/// Lane by lane: what `function` makes of the parts.
template <class T, class Function>
RADDLE_MATH_INLINE Vector<T> each_part(const Function& function) {
  Vector<T> all;
#pragma GCC unroll 4
  for (int i = 0; i < Vector<T>::part_count; ++i) all.parts[i] = (typename Vector<T>::Part)function(i);
  return all;
}

#define RADDLE_VECTOR_OPERATOR(op)                                                                  \
  template <class T>                                                                                \
  RADDLE_MATH_INLINE Vector<T> operator op(const Vector<T>& a, const Vector<T>& b) {                \
    return each_part<T>([&](int i) RADDLE_MATH_LAMBDA { return a.parts[i] op b.parts[i]; });        \
  }                                                                                                 \
  template <class T, class Number>                                                                  \
  RADDLE_MATH_INLINE Vector<T> operator op(const Vector<T>& a, Number b) {                          \
    return each_part<T>([&](int i) RADDLE_MATH_LAMBDA { return a.parts[i] op static_cast<T>(b); }); \
  }
RADDLE_VECTOR_OPERATOR(+)
RADDLE_VECTOR_OPERATOR(-)
RADDLE_VECTOR_OPERATOR(*)
RADDLE_VECTOR_OPERATOR(/)
RADDLE_VECTOR_OPERATOR(&)
RADDLE_VECTOR_OPERATOR(|)
RADDLE_VECTOR_OPERATOR(^)
RADDLE_VECTOR_OPERATOR(<<)
RADDLE_VECTOR_OPERATOR(>>)
#undef RADDLE_VECTOR_OPERATOR
template <class T>
RADDLE_MATH_INLINE Vector<T> operator-(const Vector<T>& a) {
  return each_part<T>([&](int i) RADDLE_MATH_LAMBDA { return -a.parts[i]; });
}
template <class T>
RADDLE_MATH_INLINE Vector<T> operator~(const Vector<T>& a) {
  return each_part<T>([&](int i) RADDLE_MATH_LAMBDA { return ~a.parts[i]; });
}

/// Of each lane all bits or none.
#define RADDLE_VECTOR_COMPARISON(op)                                                                 \
  template <class T>                                                                                 \
  RADDLE_MATH_INLINE Vector<MaskOf<T>> operator op(const Vector<T>& a, const Vector<T>& b) {         \
    return each_part<MaskOf<T>>([&](int i) RADDLE_MATH_LAMBDA { return a.parts[i] op b.parts[i]; }); \
  }
RADDLE_VECTOR_COMPARISON(==)
RADDLE_VECTOR_COMPARISON(!=)
RADDLE_VECTOR_COMPARISON(<)
RADDLE_VECTOR_COMPARISON(<=)
RADDLE_VECTOR_COMPARISON(>)
RADDLE_VECTOR_COMPARISON(>=)
#undef RADDLE_VECTOR_COMPARISON

/// The bits of one as the other.
template <class To, class From>
RADDLE_MATH_INLINE Vector<To> bits_as(const Vector<From>& from) {
  return each_part<To>([&](int i) RADDLE_MATH_LAMBDA { return (typename Vector<To>::Part)from.parts[i]; });
}
template <class To, class From>
RADDLE_MATH_INLINE Vector<To> converted(const Vector<From>& from) {
  return each_part<To>(
      [&](int i) RADDLE_MATH_LAMBDA { return __builtin_convertvector(from.parts[i], typename Vector<To>::Part); });
}
template <class T>
RADDLE_MATH_INLINE Vector<T> select(const Vector<MaskOf<T>>& mask, const Vector<T>& a, const Vector<T>& b) {
  return each_part<T>([&](int i) RADDLE_MATH_LAMBDA { return mask.parts[i] ? a.parts[i] : b.parts[i]; });
}
template <class T>
RADDLE_MATH_INLINE bool any_bit(const Vector<T>& words) {
  using Bits = Vector<MaskOf<T>>;
  auto all = (typename Bits::Part)words.parts[0];
  for (int i = 1; i < Bits::part_count; ++i) all |= (typename Bits::Part)words.parts[i];
  MaskOf<T> bits = 0;
#pragma GCC unroll 8
  for (int lane = 0; lane < Vector<T>::part_lanes; ++lane) bits |= all[lane];
  return bits != 0;
}

}  // namespace RADDLE_PROCESSOR
}  // namespace raddle::vm::math
