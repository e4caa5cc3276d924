// Compiled for each processor: Note [for each processor] in vm/math/vector.hpp.
#include <cstring>
#include <limits>

#include "vm/math/vector.hpp"
#include "vm/math/block_reductions.hpp"

namespace raddle::vm::math {

namespace {

using Floats = Vector<double>;
using Ints = Vector<std::int64_t>;
static_assert(lane_count == block_lanes);

/// Calls `visit` with vectors of the numbers, but for the last ones that fill none.
template <typename T, typename Visit>
RADDLE_MATH_INLINE void visit_vectors(const T* numbers, std::size_t count, const Visit& visit) {
  for (std::size_t i = 0; i + lane_count <= count; i += lane_count) visit(Vector<T>::load(numbers + i));
}

/// The numbers that fill no vector, filled up with `fill`.
template <typename T>
RADDLE_MATH_INLINE Vector<T> last_vector(const T* numbers, std::size_t count, T fill) {
  T last[lane_count] = {fill, fill, fill, fill, fill, fill, fill, fill};
  std::memcpy(last, numbers + (count - count % lane_count), count % lane_count * sizeof(T));
  return Vector<T>::load(last);
}

template <typename T>
struct Extremes {
  using Limits = std::numeric_limits<T>;
  static constexpr T highest = Limits::has_infinity ? Limits::infinity() : Limits::max();
  static constexpr T lowest = Limits::has_infinity ? -Limits::infinity() : Limits::min();
  Vector<T> least = Vector<T>(highest), greatest = Vector<T>(lowest);
  RADDLE_MATH_INLINE void add(const Vector<T>& lows, const Vector<T>& highs) {
    least = select(highs < least, highs, least);
    greatest = select(lows > greatest, lows, greatest);
  }
};

/// Knuth's TwoSum.
struct FloatSums {
  Floats sums{}, losses{};
  RADDLE_MATH_INLINE void add(const Floats& terms) {
    const Floats next = sums + terms, part = next - sums;
    losses = losses + ((sums - (next - part)) + (terms - part));
    sums = next;
  }
};
struct IntSums {
  static constexpr std::int64_t low_half = 0xffffffff;
  Ints high{}, low{};
  RADDLE_MATH_INLINE void add(const Ints& terms) {
    high = high + (terms >> 32);
    low = low + (terms & low_half);
  }
};

/// Three chains that do not wait for each other.
template <typename T, typename Sums>
RADDLE_MATH_INLINE void reduce(const T* numbers, std::size_t count, Sums& sums, Extremes<T>& extremes) {
  visit_vectors(numbers, count, [&](const Vector<T>& terms) RADDLE_MATH_LAMBDA {
    sums.add(terms);
    extremes.add(terms, terms);
  });
  if (count % lane_count == 0) return;
  sums.add(last_vector(numbers, count, T{0}));
  extremes.add(last_vector(numbers, count, extremes.lowest), last_vector(numbers, count, extremes.highest));
}

FloatLanes of_floats(const double* numbers, std::size_t count) {
  FloatSums sums;
  Extremes<double> extremes;
  reduce(numbers, count, sums, extremes);
  FloatLanes lanes;
  sums.sums.store(&lanes.sums);
  sums.losses.store(&lanes.losses);
  extremes.least.store(&lanes.least);
  extremes.greatest.store(&lanes.greatest);
  return lanes;
}

IntLanes of_ints(const std::int64_t* numbers, std::size_t count) {
  IntSums sums;
  Extremes<std::int64_t> extremes;
  reduce(numbers, count, sums, extremes);
  IntLanes lanes;
  sums.high.store(&lanes.high);
  sums.low.store(&lanes.low);
  extremes.least.store(&lanes.least);
  extremes.greatest.store(&lanes.greatest);
  return lanes;
}

/// @param distances  from the mean, of a vector   @param distance  of one number
template <typename T, typename Distances, typename Distance>
RADDLE_MATH_INLINE double sum_of_squares(const T* numbers, std::size_t count, const Distances& distances,
                                         const Distance& distance) {
  Floats squares{};
  visit_vectors(numbers, count, [&](const Vector<T>& terms) RADDLE_MATH_LAMBDA {
    const Floats each = distances(terms);
    squares = squares + each * each;
  });
  double sum = 0;
  for (int lane = 0; lane < lane_count; ++lane) sum += squares[lane];
  for (std::size_t i = count - count % lane_count; i < count; ++i) sum += distance(numbers[i]) * distance(numbers[i]);
  return sum;
}

double squares_of_floats(const double* numbers, std::size_t count, double near, double rest) {
  const auto distance = [near, rest](const auto& number) RADDLE_MATH_LAMBDA { return (number - near) - rest; };
  return sum_of_squares(numbers, count, distance, distance);
}

double squares_of_ints(const std::int64_t* numbers, std::size_t count, std::int64_t near, double rest) {
  return sum_of_squares(
      numbers, count,
      [near, rest](const Ints& terms) RADDLE_MATH_LAMBDA { return converted<double>(terms - near) - rest; },
      [near, rest](std::int64_t number) RADDLE_MATH_LAMBDA { return static_cast<double>(number - near) - rest; });
}

double squares_of_wide_ints(const std::int64_t* numbers, std::size_t count, double mean) {
  return sum_of_squares(
      numbers, count, [mean](const Ints& terms) RADDLE_MATH_LAMBDA { return converted<double>(terms) - mean; },
      [mean](std::int64_t number) RADDLE_MATH_LAMBDA { return static_cast<double>(number) - mean; });
}

}  // namespace

namespace RADDLE_PROCESSOR {
extern const BlockReductions block_reductions;
const BlockReductions block_reductions = {of_floats, of_ints, squares_of_floats, squares_of_ints, squares_of_wide_ints};
}  // namespace RADDLE_PROCESSOR

}  // namespace raddle::vm::math
