#include "stdlib/numbers/matrix_vector.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define RADDLE_FOR_EACH_FMA [[gnu::target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")]]
#else
#define RADDLE_FOR_EACH_FMA  // sanitizers are not ready yet when the version would be chosen
#endif
#define RADDLE_ALWAYS_INLINE [[gnu::always_inline]] inline

namespace raddle::stdlib::native {
namespace {

constexpr std::size_t lanes = 4, most_columns_in_registers = 64;
using Lanes [[gnu::vector_size(lanes * sizeof(double))]] = double;
using Narrow [[gnu::vector_size(lanes * sizeof(float))]] = float;
using WideLanes [[gnu::vector_size(2 * lanes * sizeof(double))]] = double;  // without AVX-512 two of Lanes
using WideNarrow [[gnu::vector_size(2 * lanes * sizeof(float))]] = float;

// By reference: vectors as results would have another ABI on each processor.
RADDLE_ALWAYS_INLINE void load(const double* from, Lanes& to) { std::memcpy(&to, from, sizeof to); }
RADDLE_ALWAYS_INLINE void load(const float* from, Lanes& to) {
  Narrow numbers;
  std::memcpy(&numbers, from, sizeof numbers);
  to = __builtin_convertvector(numbers, Lanes);
}

RADDLE_ALWAYS_INLINE void load(const double* from, WideLanes& to) { std::memcpy(&to, from, sizeof to); }
RADDLE_ALWAYS_INLINE void load(const float* from, WideLanes& to) {
  WideNarrow numbers;
  std::memcpy(&numbers, from, sizeof numbers);
  to = __builtin_convertvector(numbers, WideLanes);
}

/// sum += a b, each element rounded once. GCC makes one instruction of this form, but not of a loop.
template <class Element>
RADDLE_ALWAYS_INLINE void add_product(Lanes& sum, const Element* elements, const Lanes& b) {
  Lanes a;
  load(elements, a);
  sum = Lanes{std::fma(a[0], b[0], sum[0]), std::fma(a[1], b[1], sum[1]), std::fma(a[2], b[2], sum[2]),
              std::fma(a[3], b[3], sum[3])};
}

template <class Element>
RADDLE_ALWAYS_INLINE void add_product(WideLanes& sum, const Element* elements, const WideLanes& b) {
  WideLanes a;
  load(elements, a);
  sum = WideLanes{std::fma(a[0], b[0], sum[0]), std::fma(a[1], b[1], sum[1]), std::fma(a[2], b[2], sum[2]),
                  std::fma(a[3], b[3], sum[3]), std::fma(a[4], b[4], sum[4]), std::fma(a[5], b[5], sum[5]),
                  std::fma(a[6], b[6], sum[6]), std::fma(a[7], b[7], sum[7])};
}

/// What the elements of each vector come to: the first and the third, the second and the fourth, and both.
RADDLE_ALWAYS_INLINE void store_totals(const Lanes (&of)[4], double* y) {
  using Places [[gnu::vector_size(lanes * sizeof(double))]] = long long;
  constexpr Places even = {0, 4, 2, 6}, odd = {1, 5, 3, 7}, low = {0, 1, 4, 5}, high = {2, 3, 6, 7};
  const Lanes even_a = __builtin_shuffle(of[0], of[1], even), even_b = __builtin_shuffle(of[2], of[3], even),
              odd_a = __builtin_shuffle(of[0], of[1], odd), odd_b = __builtin_shuffle(of[2], of[3], odd);
  const Lanes totals = (__builtin_shuffle(even_a, even_b, low) + __builtin_shuffle(even_a, even_b, high)) +
                       (__builtin_shuffle(odd_a, odd_b, low) + __builtin_shuffle(odd_a, odd_b, high));
  std::memcpy(y, &totals, sizeof totals);
}

RADDLE_ALWAYS_INLINE void store_totals(const Lanes (&of)[1], double* y) {
  *y = (of[0][0] + of[0][2]) + (of[0][1] + of[0][3]);
}

/// Of `count` rows, each `columns` elements after the one before: of four, as their sums hide how long an addition
/// takes.
template <std::size_t count, class Element>
RADDLE_ALWAYS_INLINE void dots_of_rows(const Element* a, const double* x, std::size_t columns, double* y) {
  WideLanes sums[count] = {};
  std::size_t j = 0;
  for (; j + 2 * lanes <= columns; j += 2 * lanes) {
    WideLanes factors;
    load(x + j, factors);
#pragma GCC unroll 4
    for (std::size_t i = 0; i < count; ++i) add_product(sums[i], a + i * columns + j, factors);
  }
  Lanes halves[count];
#pragma GCC unroll 4
  for (std::size_t i = 0; i < count; ++i)
    halves[i] =
        __builtin_shufflevector(sums[i], sums[i], 0, 1, 2, 3) + __builtin_shufflevector(sums[i], sums[i], 4, 5, 6, 7);
  store_totals(halves, y);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t rest = j; rest < columns; ++rest)
      y[i] = std::fma(static_cast<double>(a[i * columns + rest]), x[rest], y[i]);
}

/// Of `count` lanes of columns, whose sums stay in registers.
template <std::size_t count, class Element>
RADDLE_ALWAYS_INLINE void sums_of_columns(const double* x, const Element* a, std::size_t rows, std::size_t apart,
                                          double* y) {
  Lanes sums[count] = {};
  for (std::size_t i = 0; i < rows; ++i) {
    const Lanes factor = {x[i], x[i], x[i], x[i]};
#pragma GCC unroll 8
    for (std::size_t j = 0; j < count; ++j) add_product(sums[j], a + i * apart + j * lanes, factor);
  }
  std::memcpy(y, sums, sizeof sums);
}

RADDLE_ALWAYS_INLINE void sums_of_32_columns(const double* x, const double* a, std::size_t rows, std::size_t apart,
                                             double* y) {
  sums_of_columns<8>(x, a, rows, apart, y);
}
/// Wide ones, as numbers are widened on the way. (Of doubles GCC takes each by itself then.)
RADDLE_ALWAYS_INLINE void sums_of_32_columns(const double* x, const float* a, std::size_t rows, std::size_t apart,
                                             double* y) {
  WideLanes sums[4] = {};
  for (std::size_t i = 0; i < rows; ++i) {
    const WideLanes factor = {x[i], x[i], x[i], x[i], x[i], x[i], x[i], x[i]};
#pragma GCC unroll 4
    for (std::size_t j = 0; j < 4; ++j) add_product(sums[j], a + i * apart + j * 2 * lanes, factor);
  }
  std::memcpy(y, sums, sizeof sums);
}

/// Of fewer columns than lanes.
template <std::size_t count, class Element>
RADDLE_ALWAYS_INLINE void sums_of_last_columns(const double* x, const Element* a, std::size_t rows, std::size_t apart,
                                               double* y) {
  double sums[count] = {};
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < count; ++j) sums[j] = std::fma(x[i], static_cast<double>(a[i * apart + j]), sums[j]);
  std::memcpy(y, sums, sizeof sums);
}

/// Adds `count` rows, each `apart` elements after the one before, to the sums of all columns but the last.
template <std::size_t count, class Element>
RADDLE_ALWAYS_INLINE void add_rows(const double* x, const Element* a, std::size_t apart, std::size_t columns,
                                   double* y) {
  for (std::size_t j = 0; j + lanes <= columns; j += lanes) {
    Lanes sum;
    std::memcpy(&sum, y + j, sizeof sum);
#pragma GCC unroll 4
    for (std::size_t i = 0; i < count; ++i) add_product(sum, a + i * apart + j, Lanes{x[i], x[i], x[i], x[i]});
    std::memcpy(y + j, &sum, sizeof sum);
  }
}

template <class Element>
RADDLE_ALWAYS_INLINE void products_of_rows(const Element* a, const double* x, std::size_t rows, std::size_t columns,
                                           double* y) {
  std::size_t i = 0;
  for (; i + 4 <= rows; i += 4) dots_of_rows<4>(a + i * columns, x, columns, y + i);
  for (; i < rows; ++i) dots_of_rows<1>(a + i * columns, x, columns, y + i);
}

template <class Element>
RADDLE_ALWAYS_INLINE void sums_of_all_columns(const double* x, const Element* a, std::size_t rows, std::size_t columns,
                                              double* y) {
  std::size_t j = 0;
  if (columns > most_columns_in_registers) {  // row by row, as they lie in memory
    j = columns / lanes * lanes;
    std::fill_n(y, j, 0.0);
    std::size_t i = 0;
    for (; i + 4 <= rows; i += 4) add_rows<4>(x + i, a + i * columns, columns, columns, y);
    for (; i < rows; ++i) add_rows<1>(x + i, a + i * columns, columns, columns, y);
  }
  for (; j + 32 <= columns; j += 32) sums_of_32_columns(x, a + j, rows, columns, y + j);
  for (; j + lanes <= columns; j += lanes) sums_of_columns<1>(x, a + j, rows, columns, y + j);
  switch (columns - j) {
    case 1: return sums_of_last_columns<1>(x, a + j, rows, columns, y + j);
    case 2: return sums_of_last_columns<2>(x, a + j, rows, columns, y + j);
    case 3: return sums_of_last_columns<3>(x, a + j, rows, columns, y + j);
    default: return;
  }
}

}  // namespace

RADDLE_FOR_EACH_FMA void multiply_by_column(const double* a, const double* x, std::size_t rows, std::size_t columns,
                                            double* y) {
  products_of_rows(a, x, rows, columns, y);
}
RADDLE_FOR_EACH_FMA void multiply_by_column(const float* a, const double* x, std::size_t rows, std::size_t columns,
                                            double* y) {
  products_of_rows(a, x, rows, columns, y);
}

RADDLE_FOR_EACH_FMA void multiply_row(const double* x, const double* a, std::size_t rows, std::size_t columns,
                                      double* y) {
  sums_of_all_columns(x, a, rows, columns, y);
}
RADDLE_FOR_EACH_FMA void multiply_row(const double* x, const float* a, std::size_t rows, std::size_t columns,
                                      double* y) {
  sums_of_all_columns(x, a, rows, columns, y);
}

}  // namespace raddle::stdlib::native
