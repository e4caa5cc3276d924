#include "vm/value/range.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace raddle::vm {

namespace {

constexpr std::int64_t most_values = std::numeric_limits<std::int64_t>::max() - 1;
constexpr std::int64_t most_elements = std::int64_t{1} << 31;  ///< of an array: 16 GiB

}  // namespace

std::int64_t range_count(std::int64_t low, std::int64_t high, std::int64_t step) {
  if (low > high || step < 0) return 0;
  const std::uint64_t distance = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  const std::uint64_t last = distance / static_cast<std::uint64_t>(step);
  return static_cast<std::int64_t>(std::min<std::uint64_t>(last, most_values - 1)) + 1;
}

std::int64_t range_count(double low, double high, double step) {
  if (!(low <= high) || !(step > 0)) return 0;
  constexpr double most_steps = 9e18;
  const double steps = std::floor((high - low) / step);
  if (!(steps < most_steps)) return most_values;
  auto count = static_cast<std::int64_t>(steps) + 1;
  // the quotient is rounded, by one at most: the values themselves decide
  if (count > 1 && range_value(low, step, count - 1) > high) return count - 1;
  if (range_value(low, step, count) <= high) return count + 1;
  return count;
}

template <typename T>
std::expected<Ref<Array>, std::string> make_range(T low, T high, T step) {
  if (step == 0) return std::unexpected(zero_step_text);
  const std::int64_t count = range_count(low, high, step);
  if (count > most_elements) {
    return std::unexpected("the range has too many elements for an array: a `foreach` over it needs none");
  }
  std::vector<T> values;
  values.reserve(static_cast<std::size_t>(count));
  for (std::int64_t k = 0; k < count; ++k) values.push_back(range_value(low, step, k));
  return Array::packed_of(std::move(values));
}

template std::expected<Ref<Array>, std::string> make_range(std::int64_t, std::int64_t, std::int64_t);
template std::expected<Ref<Array>, std::string> make_range(double, double, double);

}  // namespace raddle::vm
