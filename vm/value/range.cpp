#include "vm/value/range.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "vm/memory/memory_limit.hpp"

namespace raddle::vm {

namespace {

constexpr std::int64_t most_values = std::numeric_limits<std::int64_t>::max() - 1;

}  // namespace

const char* step_fault(std::int64_t, std::int64_t step) { return step == 0 ? "the step of a range is 0" : nullptr; }

const char* step_fault(double low, double step) {
  if (step == 0) return "the step of a range is 0";
  const bool is_lost = std::isfinite(low) && low + step == low;
  return is_lost ? "the step of a range is lost: it is so small that adding it changes nothing" : nullptr;
}

std::int64_t range_count(std::int64_t low, std::int64_t high, std::int64_t step) {
  if (step > 0 ? low > high : low < high) return 0;
  const auto apart = [](std::int64_t a, std::int64_t b) {
    return static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b);
  };
  const std::uint64_t last =
      step > 0 ? apart(high, low) / static_cast<std::uint64_t>(step) : apart(low, high) / apart(0, step);
  return static_cast<std::int64_t>(std::min<std::uint64_t>(last, most_values - 1)) + 1;
}

std::int64_t range_count(double low, double high, double step) {
  if (std::isnan(step) || !(step > 0 ? low <= high : low >= high)) return 0;
  // Not by division: its rounding may be off by many steps where the steps are near the precision of the values, which
  // decide. They never turn back with k.
  std::int64_t inside = 0, outside = most_values;
  while (outside - inside > 1) {
    const std::int64_t middle = inside + (outside - inside) / 2;
    const double value = range_value(low, step, middle);
    ((step > 0 ? value <= high : value >= high) ? inside : outside) = middle;
  }
  return outside;
}

template <typename T>
std::expected<Ref<Array>, std::string> make_range(T low, T high, T step) {
  if (const char* fault = step_fault(low, step)) return std::unexpected(fault);
  const std::int64_t count = range_count(low, high, step);
  if (!fits_in_memory(static_cast<double>(count) * sizeof(T))) {
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
