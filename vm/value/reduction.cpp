#include "vm/value/reduction.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace raddle::vm {

namespace {

// Number i of a block goes to lane i % 4; in the end the lanes are joined in order. For vector instructions.
constexpr std::size_t lane_count = 4;

template <typename T, typename Lane, typename Add>
void add_to_lanes(std::span<const T> numbers, std::array<Lane, lane_count>& lanes, const Add& add) {
  std::size_t i = 0;
  for (; i + lane_count <= numbers.size(); i += lane_count)
    for (std::size_t lane = 0; lane < lane_count; ++lane) add(lanes[lane], numbers[i + lane]);
  for (std::size_t lane = 0; i < numbers.size(); ++i, ++lane) add(lanes[lane], numbers[i]);
}

CompensatedSum sum_of(std::span<const double> numbers) {
  std::array<double, lane_count> sums{}, losses{};
  std::size_t i = 0;
  const auto add = [&](std::size_t lane, double term) {  // CompensatedSum::add, with sums and losses apart
    const double next = sums[lane] + term, part = next - sums[lane];
    losses[lane] += (sums[lane] - (next - part)) + (term - part);
    sums[lane] = next;
  };
  for (; i + lane_count <= numbers.size(); i += lane_count)
    for (std::size_t lane = 0; lane < lane_count; ++lane) add(lane, numbers[i + lane]);
  for (std::size_t lane = 0; i < numbers.size(); ++i, ++lane) add(lane, numbers[i]);
  CompensatedSum all;
  for (std::size_t lane = 0; lane < lane_count; ++lane) all.add(CompensatedSum{sums[lane], losses[lane]});
  return all;
}

/// Halves of the ints are added apart: no sum of some hundred of them overflows.
WideSum sum_of(std::span<const std::int64_t> numbers) {
  std::array<std::int64_t, lane_count> high{}, low{};
  constexpr std::int64_t low_half = 0xffffffff;
  add_to_lanes(numbers, high, [](std::int64_t& lane, std::int64_t number) { lane += number >> 32; });
  add_to_lanes(numbers, low, [](std::int64_t& lane, std::int64_t number) { lane += number & low_half; });
  WideSum all;
  for (std::size_t lane = 0; lane < lane_count; ++lane)
    all.sum += static_cast<WideSum::Wide>(high[lane]) * (low_half + 1) + low[lane];
  return all;
}

template <typename T>
void find_extremes(std::span<const T> numbers, Reduction<T>& all) {
  using Limits = std::numeric_limits<T>;
  std::array<T, lane_count> least, greatest;
  least.fill(Limits::has_infinity ? Limits::infinity() : Limits::max());
  greatest.fill(Limits::has_infinity ? -Limits::infinity() : Limits::min());
  add_to_lanes(numbers, least, [](T& lane, T number) { lane = number < lane ? number : lane; });
  add_to_lanes(numbers, greatest, [](T& lane, T number) { lane = number > lane ? number : lane; });
  all.least = *std::ranges::min_element(least);
  all.greatest = *std::ranges::max_element(greatest);
}

double squared_distances(std::span<const std::int64_t> numbers, double mean) {
  std::array<double, lane_count> lanes{};
  add_to_lanes(numbers, lanes, [mean](double& lane, std::int64_t number) {
    const double distance = static_cast<double>(number) - mean;
    lane += distance * distance;
  });
  double all = 0;
  for (const double lane : lanes) all += lane;
  return all;
}

double squared_distances(std::span<const double> numbers, double mean) {
  std::array<double, lane_count> lanes{};
  add_to_lanes(numbers, lanes, [mean](double& lane, double number) {
    const double distance = number - mean;
    lane += distance * distance;
  });
  double all = 0;
  for (const double lane : lanes) all += lane;
  return all;
}

}  // namespace

template <typename T>
Reduction<T> Reduction<T>::of(std::span<const T> numbers) {
  Reduction all;
  if (numbers.empty()) return all;
  all.count = static_cast<std::int64_t>(numbers.size());
  all.sum = sum_of(numbers);
  find_extremes(numbers, all);
  const auto is_nan = [](T number) { return number != number; };
  all.has_nan = std::isnan(all.sum.total()) && std::ranges::any_of(numbers, is_nan);
  all.center = all.mean();
  all.m2 = squared_distances(numbers, all.center);
  return all;
}

template <typename T>
Reduction<T> Reduction<T>::joined(const Reduction& later) const {
  if (count == 0) return later;
  if (later.count == 0) return *this;
  Reduction all = *this;
  all.count += later.count;
  all.sum.add(later.sum);
  all.least = std::min(least, later.least);
  all.greatest = std::max(greatest, later.greatest);
  all.has_nan |= later.has_nan;
  const double share = static_cast<double>(later.count) / static_cast<double>(all.count);
  const double distance = later.center - center;
  all.center += distance * share;
  all.m2 += later.m2 + distance * distance * share * static_cast<double>(count);
  return all;
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
