#include "vm/value/reduction.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

namespace raddle::vm {

namespace {

// Number i of a block goes to lane i % 8; in the end the lanes are joined in order. The lanes are a vector, of which a
// processor takes as much at once as it can: the version for it is chosen when the tool starts (x86-64-v4 is AVX-512
// with the conversion of ints, which AVX-512F lacks). All give the same bits, as a*b + c is nowhere contracted
// (CMakeLists.txt).
constexpr std::size_t lane_count = reduction_lanes;
template <typename T>
struct Vector {
  typedef T Lanes __attribute__((vector_size(lane_count * sizeof(T))));
};
template <typename T>
using Lanes = typename Vector<T>::Lanes;

#define RADDLE_INLINE __attribute__((always_inline))  // into the version for each processor
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define RADDLE_FOR_EACH_PROCESSOR [[gnu::target_clones("arch=x86-64-v4", "avx2", "default")]]
#else
#define RADDLE_FOR_EACH_PROCESSOR  // sanitizers are not ready yet when the version would be chosen
#endif

template <typename T>
struct LaneSums;
/// CompensatedSum::add, with sums and losses apart.
template <>
struct LaneSums<double> {
  Lanes<double> sums{}, losses{};
  RADDLE_INLINE void add(const Lanes<double>& terms) {
    const Lanes<double> next = sums + terms, part = next - sums;
    losses += (sums - (next - part)) + (terms - part);
    sums = next;
  }
  CompensatedSum total() const {
    CompensatedSum all;
    for (std::size_t lane = 0; lane < lane_count; ++lane) all.add(CompensatedSum{sums[lane], losses[lane]});
    return all;
  }
};
/// Halves of the ints are added apart: no sum of up to 2^31 of them overflows.
template <>
struct LaneSums<std::int64_t> {
  static constexpr std::int64_t low_half = 0xffffffff;
  Lanes<std::int64_t> high{}, low{};
  RADDLE_INLINE void add(const Lanes<std::int64_t>& terms) {
    high += terms >> 32;
    low += terms & low_half;
  }
  WideSum total() const {
    std::int64_t all_high = 0, all_low = 0;
    for (std::size_t lane = 0; lane < lane_count; ++lane) {
      all_high += high[lane];
      all_low += low[lane];
    }
    return {static_cast<WideSum::Wide>(all_high) * (low_half + 1) + all_low};
  }
};

/// A class, as g++ 12 keeps two such variables of the function in memory: 40 % of the time of ints.
template <typename T>
struct LaneExtremes {
  using Limits = std::numeric_limits<T>;
  static constexpr T highest = Limits::has_infinity ? Limits::infinity() : Limits::max();
  static constexpr T lowest = Limits::has_infinity ? -Limits::infinity() : Limits::min();
  Lanes<T> least = Lanes<T>{} + highest, greatest = Lanes<T>{} + lowest;
  RADDLE_INLINE void add(const Lanes<T>& lows, const Lanes<T>& highs) {
    least = highs < least ? highs : least;
    greatest = lows > greatest ? lows : greatest;
  }
};

/// Calls `visit` with vectors of the numbers, but for the last ones that fill none.
template <typename T, typename Visit>
RADDLE_INLINE inline void visit_vectors(std::span<const T> numbers, const Visit& visit) {
  Lanes<T> lanes;
  for (std::size_t i = 0; i + lane_count <= numbers.size(); i += lane_count) {
    std::memcpy(&lanes, &numbers[i], sizeof lanes);
    visit(lanes);
  }
}

/// Those last ones, filled up with `fill`.
template <typename T>
RADDLE_INLINE inline Lanes<T> last_vector(std::span<const T> numbers, T fill) {
  const std::span<const T> last = numbers.last(numbers.size() % lane_count);
  Lanes<T> lanes = Lanes<T>{} + fill;
  for (std::size_t lane = 0; lane < last.size(); ++lane) lanes[lane] = last[lane];
  return lanes;
}

/// @param distances  from the mean, of a vector   @param distance  of one number
template <typename T, typename Distances, typename Distance>
RADDLE_INLINE inline double sum_of_squares(std::span<const T> numbers, const Distances& distances,
                                           const Distance& distance) {
  Lanes<double> squares{};
  visit_vectors(numbers, [&](const Lanes<T>& lanes) RADDLE_INLINE {
    const Lanes<double> each = distances(lanes);
    squares += each * each;
  });
  double sum = 0;
  for (std::size_t lane = 0; lane < lane_count; ++lane) sum += squares[lane];
  for (const T number : numbers.last(numbers.size() % lane_count)) sum += distance(number) * distance(number);
  return sum;
}

RADDLE_INLINE inline double squared_distances(std::span<const double> numbers, const Reduction<double>& all) {
  const auto [near, rest] = all.exact_mean();
  const auto distance = [near = near, rest = rest](const auto& number) RADDLE_INLINE { return (number - near) - rest; };
  return sum_of_squares(numbers, distance, distance);
}

RADDLE_INLINE inline double squared_distances(std::span<const std::int64_t> numbers,
                                              const Reduction<std::int64_t>& all) {
  const auto [near, rest] = all.exact_mean();
  std::int64_t range = 0;
  if (__builtin_sub_overflow(all.greatest, all.least, &range)) {  // then nothing near the mean counts much
    const double mean = all.mean();
    return sum_of_squares(
        numbers,
        [mean](const Lanes<std::int64_t>& lanes)
            RADDLE_INLINE { return __builtin_convertvector(lanes, Lanes<double>) - mean; },
        [mean](std::int64_t number) { return static_cast<double>(number) - mean; });
  }
  return sum_of_squares(
      numbers,
      [near = near, rest = rest](const Lanes<std::int64_t>& lanes)
          RADDLE_INLINE { return __builtin_convertvector(lanes - near, Lanes<double>) - rest; },
      [near = near, rest = rest](std::int64_t number) { return static_cast<double>(number - near) - rest; });
}

/// Whether m2 can not be too large, of however many such blocks: then it changes nothing of the others.
bool has_small_m2(const Reduction<double>& all) { return all.greatest - all.least < plain_float_end; }
bool has_small_m2(const Reduction<std::int64_t>& /*all*/) { return true; }

template <typename T>
RADDLE_INLINE inline void reduce_block(std::span<const T> numbers, bool has_deviation, Reduction<T>& all) {
  LaneSums<T> sums;
  LaneExtremes<T> extremes;
  visit_vectors(numbers, [&](const Lanes<T>& lanes) RADDLE_INLINE {  // three chains that do not wait for each other
    sums.add(lanes);
    extremes.add(lanes, lanes);
  });
  const std::size_t whole = numbers.size() - numbers.size() % lane_count;
  if (whole != numbers.size()) {
    sums.add(last_vector(numbers, T{0}));
    extremes.add(last_vector(numbers, extremes.lowest), last_vector(numbers, extremes.highest));
  }
  all.sum = sums.total();
  all.least = extremes.least[0];
  all.greatest = extremes.greatest[0];
  for (std::size_t lane = 1; lane < lane_count; ++lane) {
    all.least = std::min<T>(all.least, extremes.least[lane]);
    all.greatest = std::max<T>(all.greatest, extremes.greatest[lane]);
  }
  if (has_deviation || !has_small_m2(all)) all.m2 = squared_distances(numbers, all);
}

RADDLE_FOR_EACH_PROCESSOR void reduce(std::span<const double> numbers, bool has_deviation, Reduction<double>& all) {
  reduce_block(numbers, has_deviation, all);
}
RADDLE_FOR_EACH_PROCESSOR void reduce(std::span<const std::int64_t> numbers, bool has_deviation,
                                      Reduction<std::int64_t>& all) {
  reduce_block(numbers, has_deviation, all);
}

}  // namespace

double WideSum::mean(std::int64_t count) const {
  __extension__ using Unsigned = unsigned __int128;
  constexpr Wide exact = Wide{1} << 53;
  if (sum >= -exact && sum <= exact) return static_cast<double>(sum) / static_cast<double>(count);
  const auto divisor = static_cast<Unsigned>(count), size = static_cast<Unsigned>(sum < 0 ? -sum : sum);
  const Unsigned left = (size % divisor) << 64;
  // what is left below the last of these bits only tells that the value is above it
  const Unsigned bits = ((size / divisor) << 64) | (left / divisor) | (left % divisor != 0 ? 1 : 0);
  const double mean = std::ldexp(static_cast<double>(bits), -64);
  return sum < 0 ? -mean : mean;
}

template <>
Reduction<double>::ExactMean Reduction<double>::exact_mean() const {
  const double number = static_cast<double>(count), near = sum.total() / number;
  const double rest = (std::fma(-near, number, sum.sum) + sum.lost) / number;
  return {near, std::isfinite(rest) ? rest : 0};
}

template <>
Reduction<std::int64_t>::ExactMean Reduction<std::int64_t>::exact_mean() const {
  const auto divided = [this](auto whole) {
    return ExactMean{static_cast<std::int64_t>(whole / count),
                     static_cast<double>(whole % count) / static_cast<double>(count)};
  };
  const auto narrow = static_cast<std::int64_t>(sum.sum);
  return narrow == sum.sum ? divided(narrow) : divided(sum.sum);  // 128 bits are divided by a function
}

namespace {

double distance_of(Reduction<double>::ExactMean one, Reduction<double>::ExactMean other) {
  return (other.near - one.near) + (other.rest - one.rest);
}

double distance_of(Reduction<std::int64_t>::ExactMean one, Reduction<std::int64_t>::ExactMean other) {
  return static_cast<double>(WideSum::Wide{other.near} - one.near) + (other.rest - one.rest);
}

}  // namespace

constexpr int far_exponent = 600;  // squares of the largest floats are far from both ends then

/// Though its numbers are finite.
template <>
bool Reduction<double>::is_too_large() const {
  return exponent == 0 && !(std::isfinite(sum.sum) && std::isfinite(sum.lost) && std::isfinite(m2)) && !has_nan &&
         std::isfinite(least) && std::isfinite(greatest);
}
template <>
bool Reduction<std::int64_t>::is_too_large() const {
  return false;
}

template <>
Reduction<double> Reduction<double>::divided() const {
  if (exponent != 0) return *this;
  Reduction all = *this;
  all.exponent = far_exponent;
  all.sum = {std::ldexp(sum.sum, -far_exponent), std::ldexp(sum.lost, -far_exponent)};
  all.m2 = std::ldexp(m2, -2 * far_exponent);
  return all;
}
template <>
Reduction<std::int64_t> Reduction<std::int64_t>::divided() const {
  return *this;
}

template <typename T>
Reduction<T> Reduction<T>::of(std::span<const T> numbers, bool has_deviation) {
  Reduction all;
  if (numbers.empty()) return all;
  all.count = static_cast<std::int64_t>(numbers.size());
  all.has_deviation = has_deviation;
  reduce(numbers, has_deviation, all);
  const auto is_nan = [](T number) { return number != number; };
  all.has_nan = std::isnan(all.sum.total()) && std::ranges::any_of(numbers, is_nan);
  if (!all.is_too_large()) return all;
  std::vector<T> divided(numbers.begin(), numbers.end());
  for (T& number : divided) number = static_cast<T>(std::ldexp(static_cast<double>(number), -far_exponent));
  Reduction far = all;
  reduce(divided, has_deviation, far);
  far.least = all.least;
  far.greatest = all.greatest;
  far.exponent = far_exponent;
  return far;
}

template <typename T>
Reduction<T> Reduction<T>::joined(const Reduction& later) const {
  if (count == 0) return later;
  if (later.count == 0) return *this;
  if (exponent != later.exponent) return divided().joined(later.divided());
  Reduction all = *this;
  all.count += later.count;
  all.sum.add(later.sum);
  all.least = std::min(least, later.least);
  all.greatest = std::max(greatest, later.greatest);
  all.has_nan |= later.has_nan;
  all.has_deviation &= later.has_deviation;
  if (all.has_deviation || !has_small_m2(all)) {
    const double share = static_cast<double>(later.count) / static_cast<double>(all.count);
    const double distance = distance_of(exact_mean(), later.exact_mean());
    all.m2 += later.m2 + distance * distance * share * static_cast<double>(count);
  }
  return all.is_too_large() ? divided().joined(later.divided()) : all;
}

template <typename T>
void ReductionTree<T>::add(Place place, Reduction<T> part) {
  for (;;) {
    const auto sibling = parts_.find(Place{place.first, place.second ^ 1});
    if (sibling == parts_.end()) break;
    part = place.second % 2 == 0 ? part.joined(sibling->second) : sibling->second.joined(part);
    parts_.erase(sibling);
    place = {place.first + 1, place.second / 2};
  }
  parts_.emplace(place, std::move(part));
}

template <typename T>
Reduction<T> ReductionTree<T>::total() const {
  if (parts_.empty()) return {};
  ReductionTree tree = *this;
  while (tree.parts_.size() > 1) {  // a part of the lowest level has no other half: it is as if that were empty
    const auto [place, part] = *tree.parts_.begin();
    tree.parts_.erase(tree.parts_.begin());
    tree.add(Place{place.first + 1, place.second / 2}, part);
  }
  return tree.parts_.begin()->second;
}

template struct Reduction<std::int64_t>;
template struct Reduction<double>;
template class ReductionTree<std::int64_t>;
template class ReductionTree<double>;

}  // namespace raddle::vm
