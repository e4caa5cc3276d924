// Numbers sorted, searched, counted, added up one after the other. NaN comes behind all other numbers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>

#include "stdlib/native/elements.hpp"
#include "stdlib/native/functions.hpp"
#include "stdlib/numbers/number_types.hpp"
#include "vm/memory/memory_limit.hpp"
#include "vm/value/text.hpp"

namespace raddle::stdlib::native {
namespace {

using vm::Value;

template <typename T>
bool is_number(T number) {
  if constexpr (std::is_same_v<T, double>) return !std::isnan(number);
  return true;
}
template <typename T>
bool is_less(T a, T b) {
  return a < b || (is_number(a) && !is_number(b));
}

template <typename T>
std::vector<T> sorted(std::vector<T> all) {
  const auto end = std::stable_partition(all.begin(), all.end(), is_number<T>);
  std::stable_sort(all.begin(), end);
  return all;
}

template <typename T>
std::vector<std::int64_t> sorting_indices(const std::vector<T>& all) {
  std::vector<std::int64_t> order(all.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::ranges::stable_sort(order, [&](std::int64_t i, std::int64_t j) {
    return is_less(all[static_cast<std::size_t>(i)], all[static_cast<std::size_t>(j)]);
  });
  return order;
}

template <typename T>
Result unique(Arguments arguments, Results results) {
  std::vector<T> all = sorted(numbers<T>(arguments[0]));
  const auto is_same = [](T a, T b) { return a == b || (!is_number(a) && !is_number(b)); };
  all.erase(std::unique(all.begin(), all.end(), is_same), all.end());
  return give(results, number_array(std::move(all)));
}

/// Sorted numbers, those to be inserted, and whether behind equal ones.
template <typename T>
Result searchsorted(Arguments arguments, Results results) {
  const std::vector<T> all = numbers<T>(arguments[0]);
  const std::string& side = arguments[2].as_string();
  if (side != "left" && side != "right")
    return fail(fmt::format("searchsorted: the side is left or right, found `{}`", side));
  const auto is_behind = [](T a, T b) { return is_less(b, a); };
  if (const auto wrong = std::ranges::adjacent_find(all, is_behind); wrong != all.end())
    return fail(fmt::format("the array that is searched is to be sorted: its element {} is less than the one before",
                            wrong - all.begin() + 1));
  std::vector<std::int64_t> places;
  places.reserve(arguments[1].as_array().size());
  visit_numbers<T>(arguments[1], [&](T number) {
    const auto at = side == "right" ? std::upper_bound(all.begin(), all.end(), number, is_less<T>)
                                    : std::lower_bound(all.begin(), all.end(), number, is_less<T>);
    places.push_back(at - all.begin());
  });
  return give(results, number_array(std::move(places)));
}

/// @param add, multiply  give whether the result is too large for an int
template <typename T, typename Add, typename Multiply>
Result running(Arguments arguments, Results results, const Add& add, const Multiply& multiply) {
  const std::string& what = arguments[0].as_string();
  std::vector<T> all = numbers<T>(arguments[1]);
  const auto apart = static_cast<std::size_t>(arguments[2].as_int()),
             length = static_cast<std::size_t>(arguments[3].as_int());
  bool is_too_large = false;
  const auto join_all = [&](const auto& join) {
    for (std::size_t first = 0; first < all.size(); first += length)
      for (std::size_t i = first + apart; i < first + length; ++i)
        is_too_large |= join(all[i - apart], all[i], &all[i]);
  };
  // a NaN is both the largest and the smallest element
  if (what == "sum") join_all(add);
  if (what == "prod") join_all(multiply);
  if (what == "max") join_all([](T a, T b, T* most) { return *most = a > b || !is_number(a) ? a : b, false; });
  if (what == "min") join_all([](T a, T b, T* least) { return *least = a < b || !is_number(a) ? a : b, false; });
  if (is_too_large) return fail("integer overflow");
  return give(results, number_array(std::move(all)));
}

/// Numbers, how many are in a line, and how far apart they lie: each line sorted, or the indices that sort it.
template <typename T, typename Element, typename Order>
Result in_lines(Arguments arguments, Results results, const Order& order) {
  const std::vector<T> all = numbers<T>(arguments[0]);
  const auto length = static_cast<std::size_t>(arguments[1].as_int()),
             apart = static_cast<std::size_t>(arguments[2].as_int());
  std::vector<Element> found(all.size());
  std::vector<T> line(length);
  for (std::size_t first = 0; first < all.size(); first += length * apart)
    for (std::size_t j = first; j < first + apart; ++j) {
      for (std::size_t k = 0; k < length; ++k) line[k] = all[j + k * apart];
      const std::vector<Element> ordered = order(line);
      for (std::size_t k = 0; k < length; ++k) found[j + k * apart] = ordered[k];
    }
  return give(results, number_array(std::move(found)));
}

/// How many labels there are, and that `count` numbers for them can be kept. @error of the function
Result check_labels(const char* function, std::int64_t labels, std::int64_t columns) {
  if (labels < 0) return fail(fmt::format("{}: {} labels", function, labels));
  if (vm::fits_in_memory(8.0 * static_cast<double>(labels) * static_cast<double>(columns))) return {};
  return fail(fmt::format("{}: {} labels need more memory than there is", function, labels));
}

/// Calls `visit` with each label. @return what is wrong with the first that is none
template <typename Visit>
Result visit_labels(const char* function, const Value& labels, std::int64_t count, const Visit& visit) {
  std::int64_t at = 0;
  Result outcome;
  visit_numbers<std::int64_t>(labels, [&](std::int64_t label) {
    if (label >= 0 && label < count)
      visit(static_cast<std::size_t>(label));
    else if (outcome)
      outcome = fail(
          count == 0 ? fmt::format("{}: label {} of element {}: there are none", function, label, at)
                     : fmt::format("{}: label {} of element {} is outside of 0..{}", function, label, at, count - 1));
    ++at;
  });
  return outcome;
}

template <typename T>
Result scatter(Arguments arguments, Results results) {
  const std::vector<ElementOf<T>> values = numbers<ElementOf<T>>(arguments[2]);
  const auto count = static_cast<std::int64_t>(arguments[0].as_array().size());
  vm::Buffer::Owner all = vm::Buffer::make(kind_of<T>, static_cast<std::size_t>(count));
  auto* const elements = static_cast<ElementOf<T>*>(all->at_index(0));
  std::size_t next = 0;
  visit_numbers<ElementOf<T>>(arguments[0], [&](ElementOf<T> each) { elements[next++] = each; });
  next = 0;
  Result outcome;
  visit_numbers<std::int64_t>(arguments[1], [&](std::int64_t place) {
    if (place >= 0 && place < count)
      elements[place] = values[next];
    else if (outcome)
      outcome = fail(count == 0 ? fmt::format("scatter: index {}: there are no elements", place)
                                : fmt::format("scatter: index {} is outside of 0..{}", place, count - 1));
    ++next;
  });
  if (!outcome) return outcome;
  return give(results, Value::of_object(vm::ValueKind::array, vm::Array::packed_of(std::move(all))));
}

Result give_histogram(Results results, std::vector<std::int64_t> counts, std::vector<double> edges) {
  results[0] = number_array(std::move(counts));
  results[1] = number_array(std::move(edges));
  return {};
}

}  // namespace

/// What, the numbers, `apart`, `length`: in each stretch of `length` numbers each one joined with those before it,
/// `apart` from each other.
Result running_floats(Call, Arguments arguments, Results results) {
  return running<double>(
      arguments, results, [](double a, double b, double* sum) { return *sum = a + b, false; },
      [](double a, double b, double* product) { return *product = a * b, false; });
}
Result running_ints(Call, Arguments arguments, Results results) {
  using Int = std::int64_t;
  return running<Int>(
      arguments, results, [](Int a, Int b, Int* sum) { return __builtin_add_overflow(a, b, sum); },
      [](Int a, Int b, Int* product) { return __builtin_mul_overflow(a, b, product); });
}
/// NaN if one of them is.
Result middle(Call, Arguments arguments, Results results) {
  std::vector<double> all = numbers<double>(arguments[0]);
  if (all.empty()) return fail("median: an array without elements has none");
  if (!std::ranges::all_of(all, is_number<double>))
    return give(results, Value::of(std::numeric_limits<double>::quiet_NaN()));
  const auto upper = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::ranges::nth_element(all, upper);
  if (all.size() % 2 != 0) return give(results, Value::of(*upper));
  const double lower = *std::max_element(all.begin(), upper);
  return give(results, Value::of((lower + *upper) / 2.0));
}
/// Of n numbers the one at (n - 1) * share of the sorted ones: between two of these as far as it is between their
/// places.
Result quantile(Call, Arguments arguments, Results results) {
  std::vector<double> all = numbers<double>(arguments[0]);
  const double share = arguments[1].as_float();
  if (!(share >= 0 && share <= 1))
    return fail(fmt::format("quantile: a share is from 0 to 1, found {}", vm::to_text(arguments[1])));
  if (all.empty()) return fail("quantile: an array without elements has none");
  if (!std::ranges::all_of(all, is_number<double>))
    return give(results, Value::of(std::numeric_limits<double>::quiet_NaN()));
  const double place = share * static_cast<double>(all.size() - 1);
  const auto below = all.begin() + static_cast<std::ptrdiff_t>(place);
  std::ranges::nth_element(all, below);
  if (below + 1 == all.end()) return give(results, Value::of(*below));
  const double low = *below, high = *std::min_element(below + 1, all.end()), part = place - std::floor(place);
  return give(results, Value::of(between(low, high, part)));
}
Result sort_floats(Call, Arguments arguments, Results results) {
  return give(results, number_array(sorted(numbers<double>(arguments[0]))));
}
Result sort_ints(Call, Arguments arguments, Results results) {
  return give(results, number_array(sorted(numbers<std::int64_t>(arguments[0]))));
}
Result argsort_floats(Call, Arguments arguments, Results results) {
  return give(results, number_array(sorting_indices(numbers<double>(arguments[0]))));
}
Result argsort_ints(Call, Arguments arguments, Results results) {
  return give(results, number_array(sorting_indices(numbers<std::int64_t>(arguments[0]))));
}
Result sort_lines_of_floats(Call, Arguments arguments, Results results) {
  return in_lines<double, double>(arguments, results, sorted<double>);
}
Result sort_lines_of_ints(Call, Arguments arguments, Results results) {
  return in_lines<std::int64_t, std::int64_t>(arguments, results, sorted<std::int64_t>);
}
Result argsort_lines_of_floats(Call, Arguments arguments, Results results) {
  return in_lines<double, std::int64_t>(arguments, results, sorting_indices<double>);
}
Result argsort_lines_of_ints(Call, Arguments arguments, Results results) {
  return in_lines<std::int64_t, std::int64_t>(arguments, results, sorting_indices<std::int64_t>);
}
Result unique_floats(Call, Arguments arguments, Results results) { return unique<double>(arguments, results); }
Result unique_ints(Call, Arguments arguments, Results results) { return unique<std::int64_t>(arguments, results); }
Result searchsorted_floats(Call, Arguments arguments, Results results) {
  return searchsorted<double>(arguments, results);
}
Result searchsorted_ints(Call, Arguments arguments, Results results) {
  return searchsorted<std::int64_t>(arguments, results);
}

/// Where an array of ints is not 0.
Result nonzero(Call, Arguments arguments, Results results) {
  std::vector<std::int64_t> places;
  std::int64_t at = 0;
  visit_numbers<std::int64_t>(arguments[0], [&](std::int64_t number) {
    if (number != 0) places.push_back(at);
    ++at;
  });
  return give(results, number_array(std::move(places)));
}

/// Numbers, places, what comes there: of equal places the last one counts.
Result scatter_floats(Call, Arguments arguments, Results results) { return scatter<double>(arguments, results); }
Result scatter_ints(Call, Arguments arguments, Results results) { return scatter<std::int64_t>(arguments, results); }
Result scatter_booleans(Call, Arguments arguments, Results results) { return scatter<bool>(arguments, results); }
Result scatter_int32s(Call, Arguments arguments, Results results) { return scatter<std::int32_t>(arguments, results); }
Result scatter_float32s(Call, Arguments arguments, Results results) { return scatter<float>(arguments, results); }

Result count_by(Call, Arguments arguments, Results results) {
  const std::int64_t labels = arguments[1].as_int();
  if (auto checked = check_labels("count_by", labels, 1); !checked) return checked;
  std::vector<std::int64_t> counts(static_cast<std::size_t>(labels));
  auto visited = visit_labels("count_by", arguments[0], labels, [&](std::size_t label) { ++counts[label]; });
  if (!visited) return visited;
  return give(results, number_array(std::move(counts)));
}

/// Rows, their extents, a label for each row, the number of labels.
Result sum_by(Call, Arguments arguments, Results results) {
  const std::int64_t rows = arguments[1].as_int(), columns = arguments[2].as_int(), labels = arguments[4].as_int();
  const auto labelled = static_cast<std::int64_t>(arguments[3].as_array().size());
  if (rows != labelled) return fail(fmt::format("sum_by: {} elements, {} labels", rows, labelled));
  if (auto checked = check_labels("sum_by", labels, columns); !checked) return checked;
  const auto width = static_cast<std::size_t>(columns);
  const std::vector<double> all = numbers<double>(arguments[0]);
  if (all.size() != static_cast<std::size_t>(rows) * width) return fail("sum_by: the array is not complete");
  std::vector<double> sums(static_cast<std::size_t>(labels) * width);
  const double* row = all.data();
  auto visited = visit_labels("sum_by", arguments[3], labels, [&](std::size_t label) {
    for (std::size_t j = 0; j < width; ++j) sums[label * width + j] += row[j];
    row += width;
  });
  if (!visited) return visited;
  return give(results, number_array(std::move(sums)));
}

/// Numbers, how many bins, and perhaps where the first one begins and the last one ends.
Result histogram(Call, Arguments arguments, Results results) {
  const std::int64_t bins = arguments[1].as_int();
  if (bins < 1) return fail(fmt::format("histogram: {} bins", bins));
  if (!vm::fits_in_memory(16.0 * static_cast<double>(bins)))
    return fail(fmt::format("histogram: {} bins need more memory than there is", bins));
  const std::vector<double> all = numbers<double>(arguments[0]);
  double low = 0, high = 1;
  if (arguments.size() > 3) {
    low = arguments[2].as_float();
    high = arguments[3].as_float();
  } else if (!all.empty()) {
    low = high = all[0];
    for (const double number : all) {
      low = std::isnan(number) ? number : std::min(low, number);
      high = std::isnan(number) ? number : std::max(high, number);
    }
  }
  if (!std::isfinite(high - low) || low > high)
    return fail(fmt::format("histogram: there is no range from {} to {}", vm::to_text(Value::of(low)),
                            vm::to_text(Value::of(high))));
  if (low == high) {
    low -= 0.5;
    high += 0.5;
  }
  const auto count = static_cast<std::size_t>(bins);
  std::vector<double> edges(count + 1, high);
  const double step = (high - low) / static_cast<double>(bins);
  for (std::size_t i = 0; i < count; ++i) edges[i] = static_cast<double>(i) * step + low;
  std::vector<std::int64_t> counts(count);
  for (const double number : all) {
    if (!(number >= low && number <= high)) continue;
    auto bin = static_cast<std::size_t>((number - low) / (high - low) * static_cast<double>(bins));
    bin = std::min(bin, count - 1);
    // the edges say it, not the quotient
    if (number < edges[bin]) --bin;
    if (bin + 1 < count && number >= edges[bin + 1]) ++bin;
    ++counts[bin];
  }
  return give_histogram(results, std::move(counts), std::move(edges));
}

Result histogram_by_edges(Call, Arguments arguments, Results results) {
  std::vector<double> edges = numbers<double>(arguments[1]);
  if (edges.size() < 2) return fail(fmt::format("histogram: {} edges", edges.size()));
  for (std::size_t i = 0; i + 1 < edges.size(); ++i)
    if (!(edges[i] <= edges[i + 1])) return fail(fmt::format("histogram: edge {} is below edge {}", i + 1, i));
  std::vector<std::int64_t> counts(edges.size() - 1);
  visit_numbers<double>(arguments[0], [&](double number) {
    if (!(number >= edges.front() && number <= edges.back())) return;
    const auto at = static_cast<std::size_t>(std::upper_bound(edges.begin(), edges.end(), number) - edges.begin());
    ++counts[std::min(at, counts.size()) - 1];
  });
  return give_histogram(results, std::move(counts), std::move(edges));
}

}  // namespace raddle::stdlib::native
