#include "vm/value/reduction.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "vm/math/block_reductions.hpp"

namespace raddle::vm {

namespace {

static_assert(reduction_lanes == math::block_lanes);

const math::BlockReductions& reductions() {
  static const math::BlockReductions& all = math::block_reductions(math::this_processor());
  return all;
}

CompensatedSum total_of(const math::FloatLanes& lanes) {
  CompensatedSum all;
  for (std::size_t lane = 0; lane < reduction_lanes; ++lane)
    all.add(CompensatedSum{lanes.sums[lane], lanes.losses[lane]});
  return all;
}

WideSum total_of(const math::IntLanes& lanes) {
  constexpr WideSum::Wide low_half_end = WideSum::Wide{1} << 32;
  WideSum::Wide high = 0, low = 0;
  for (std::size_t lane = 0; lane < reduction_lanes; ++lane) {
    high += lanes.high[lane];
    low += lanes.low[lane];
  }
  return {high * low_half_end + low};
}

double squared_distances(std::span<const double> numbers, const Reduction<double>& all) {
  const auto [near, rest] = all.exact_mean();
  return reductions().squares_of_floats(numbers.data(), numbers.size(), near, rest);
}

double squared_distances(std::span<const std::int64_t> numbers, const Reduction<std::int64_t>& all) {
  std::int64_t range = 0;
  if (__builtin_sub_overflow(all.greatest, all.least, &range))  // then nothing near the mean counts much
    return reductions().squares_of_wide_ints(numbers.data(), numbers.size(), all.mean());
  const auto [near, rest] = all.exact_mean();
  return reductions().squares_of_ints(numbers.data(), numbers.size(), near, rest);
}

/// Whether m2 can not be too large, of however many such blocks: then it changes nothing of the others.
bool has_small_m2(const Reduction<double>& all) { return all.greatest - all.least < plain_float_end; }
bool has_small_m2(const Reduction<std::int64_t>& /*all*/) { return true; }

math::FloatLanes lanes_of(std::span<const double> numbers) {
  return reductions().of_floats(numbers.data(), numbers.size());
}
math::IntLanes lanes_of(std::span<const std::int64_t> numbers) {
  return reductions().of_ints(numbers.data(), numbers.size());
}

template <typename T>
void reduce(std::span<const T> numbers, bool has_deviation, Reduction<T>& all) {
  const auto lanes = lanes_of(numbers);
  all.sum = total_of(lanes);
  all.least = lanes.least[0];
  all.greatest = lanes.greatest[0];
  for (std::size_t lane = 1; lane < reduction_lanes; ++lane) {
    all.least = std::min<T>(all.least, lanes.least[lane]);
    all.greatest = std::max<T>(all.greatest, lanes.greatest[lane]);
  }
  if (has_deviation || !has_small_m2(all)) all.m2 = squared_distances(numbers, all);
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
  reduce<T>(numbers, has_deviation, all);
  const auto is_nan = [](T number) { return number != number; };
  all.has_nan = std::isnan(all.sum.total()) && std::ranges::any_of(numbers, is_nan);
  if (!all.is_too_large()) return all;
  std::vector<T> divided(numbers.begin(), numbers.end());
  for (T& number : divided) number = static_cast<T>(std::ldexp(static_cast<double>(number), -far_exponent));
  Reduction far = all;
  reduce<T>(divided, has_deviation, far);
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
