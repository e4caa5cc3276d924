// Growing arrays as lists: sorted, searched, taken apart, by the order of their keys. What comes out has keys 0..n-1.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "stdlib/native/elements.hpp"
#include "stdlib/native/functions.hpp"
#include "vm/value/text.hpp"

namespace raddle::stdlib::native {
namespace {

using vm::Value;
using vm::ValueKind;

/// Numbers by size, NaN behind all others; strings by their bytes.
bool comes_before(const Value& a, const Value& b) {
  switch (a.kind()) {
    case ValueKind::int_:
    case ValueKind::int32: return a.as_int() < b.as_int();
    case ValueKind::float_:
    case ValueKind::float32:
      return a.as_float() < b.as_float() || (!std::isnan(a.as_float()) && std::isnan(b.as_float()));
    case ValueKind::boolean: return !a.as_bool() && b.as_bool();
    default: return a.as_string() < b.as_string();
  }
}
bool is_same(const Value& a, const Value& b) { return !comes_before(a, b) && !comes_before(b, a); }

std::vector<std::size_t> sorted_places(const std::vector<Value>& all) {
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t i, std::size_t j) { return comes_before(all[i], all[j]); });
  return order;
}

std::vector<Value> each_once(std::vector<Value> all) {
  std::ranges::sort(all, comes_before);
  all.erase(std::unique(all.begin(), all.end(), is_same), all.end());
  return all;
}

/// Those of the first array that are in the second one, or are not.
std::vector<Value> chosen_by(Arguments arguments, bool are_in_both) {
  const std::vector<Value> others = each_once(elements(arguments[1]));
  std::vector<Value> chosen = each_once(elements(arguments[0]));
  std::erase_if(
      chosen, [&](const Value& each) { return std::ranges::binary_search(others, each, comes_before) != are_in_both; });
  return chosen;
}

std::vector<Value> sorted_elements(const Value& array) {
  std::vector<Value> all = elements(array);
  std::ranges::stable_sort(all, comes_before);
  return all;
}

double number_of(const Value& value) {
  return value.kind() == ValueKind::int_ ? static_cast<double>(value.as_int()) : value.as_float();
}

/// Between the two nearest elements by the share of the way, as NumPy does it.
Result quantile_of(const char* function, const Value& array, double share, Results results) {
  if (!(share >= 0 && share <= 1)) return fail(fmt::format("{}: the share {} is not between 0 and 1", function, share));
  std::vector<double> all;
  for (const Value& each : elements(array)) all.push_back(number_of(each));
  if (all.empty()) return fail(fmt::format("{} of an empty array", function));
  if (std::ranges::any_of(all, [](double x) { return std::isnan(x); }))
    return give(results, Value::of(std::numeric_limits<double>::quiet_NaN()));
  std::ranges::sort(all);
  const double place = share * static_cast<double>(all.size() - 1);
  const auto low = static_cast<std::size_t>(place);
  const std::size_t high = std::min(low + 1, all.size() - 1);
  const double part = place - static_cast<double>(low);
  return give(results, Value::of(between(all[low], all[high], part)));
}

}  // namespace

Result sort_list(Call, Arguments arguments, Results results) {
  return give(results, dense_array(sorted_elements(arguments[0])));
}

Result argsort_list(Call, Arguments arguments, Results results) {
  std::vector<std::int64_t> places;
  for (const std::size_t place : sorted_places(elements(arguments[0])))
    places.push_back(static_cast<std::int64_t>(place));
  return give(results, number_array(std::move(places)));
}

Result unique_list(Call, Arguments arguments, Results results) {
  return give(results, dense_array(each_once(elements(arguments[0]))));
}

// Arrays as sets: what comes out is sorted, each element once.

Result union_list(Call, Arguments arguments, Results results) {
  std::vector<Value> all = elements(arguments[0]);
  std::ranges::copy(elements(arguments[1]), std::back_inserter(all));
  return give(results, dense_array(each_once(std::move(all))));
}

Result intersection_list(Call, Arguments arguments, Results results) {
  return give(results, dense_array(chosen_by(arguments, true)));
}

Result difference_list(Call, Arguments arguments, Results results) {
  return give(results, dense_array(chosen_by(arguments, false)));
}

Result is_in_list(Call, Arguments arguments, Results results) {
  const std::vector<Value> all = elements(arguments[1]);
  const bool is_there = std::ranges::any_of(all, [&](const Value& each) { return is_same(each, arguments[0]); });
  return give(results, Value::of(is_there));
}

Result reverse_list(Call, Arguments arguments, Results results) {
  std::vector<Value> all = elements(arguments[0]);
  std::ranges::reverse(all);
  return give(results, dense_array(std::move(all)));
}

Result append_list(Call, Arguments arguments, Results results) {
  std::vector<Value> all = elements(arguments[0]);
  all.push_back(arguments[1]);
  return give(results, dense_array(std::move(all)));
}

Result slice_list(Call, Arguments arguments, Results results) {
  const std::vector<Value> all = elements(arguments[0]);
  const std::int64_t first = arguments[1].as_int(), last = arguments[2].as_int();
  const auto size = static_cast<std::int64_t>(all.size());
  if (first < 0 || last >= size || last < first - 1)
    return fail(fmt::format("slice: elements {} to {} of an array of {}", first, last, size));
  return give(results, dense_array({all.begin() + first, all.begin() + last + 1}));
}

Result filter_list(Call, Arguments arguments, Results results) {
  const std::vector<Value> all = elements(arguments[0]), keep = elements(arguments[1]);
  if (all.size() != keep.size())
    return fail(fmt::format("filter: {} elements, but {} booleans", all.size(), keep.size()));
  std::vector<Value> kept;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (keep[i].as_bool()) kept.push_back(all[i]);
  return give(results, dense_array(std::move(kept)));
}

Result count_list(Call, Arguments arguments, Results results) {
  const std::vector<Value> all = elements(arguments[0]);
  const auto count = std::ranges::count_if(all, [&](const Value& each) { return is_same(each, arguments[1]); });
  return give(results, Value::of(std::int64_t{count}));
}

Result index_of_list(Call, Arguments arguments, Results results) {
  const std::vector<Value> all = elements(arguments[0]);
  const auto found = std::ranges::find_if(all, [&](const Value& each) { return is_same(each, arguments[1]); });
  return give(results, Value::of(found == all.end() ? std::int64_t{-1} : std::int64_t{found - all.begin()}));
}

Result median_list(Call, Arguments arguments, Results results) {
  return quantile_of("median", arguments[0], 0.5, results);
}

Result quantile_list(Call, Arguments arguments, Results results) {
  return quantile_of("quantile", arguments[0], arguments[1].as_float(), results);
}

Result group_by_list(Call, Arguments arguments, Results results) {
  const std::vector<Value> all = elements(arguments[0]), keys = elements(arguments[1]);
  if (all.size() != keys.size())
    return fail(fmt::format("group_by: {} elements, but {} keys", all.size(), keys.size()));
  std::map<std::string, std::vector<Value>> groups;
  for (std::size_t i = 0; i < all.size(); ++i) groups[keys[i].as_string()].push_back(all[i]);
  std::vector<std::pair<Value, Value>> entries;
  for (auto& [key, group] : groups) entries.emplace_back(Value::of(key), dense_array(std::move(group)));
  return give(results, Value::of_object(ValueKind::array, vm::Array::keyed(std::move(entries))));
}

Result sum_by_list(Call, Arguments arguments, Results results) {
  const std::vector<double> all = numbers<double>(arguments[0]);
  const std::vector<Value> keys = elements(arguments[1]);
  if (all.size() != keys.size()) return fail(fmt::format("sum_by: {} numbers, but {} keys", all.size(), keys.size()));
  std::map<std::string, double> sums;
  for (std::size_t i = 0; i < all.size(); ++i) sums[keys[i].as_string()] += all[i];
  std::vector<std::pair<Value, Value>> entries;
  for (const auto& [key, sum] : sums) entries.emplace_back(Value::of(key), Value::of(sum));
  return give(results, Value::of_object(ValueKind::array, vm::Array::keyed(std::move(entries))));
}

}  // namespace raddle::stdlib::native
