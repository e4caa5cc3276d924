// Sums, means and deviations of arrays.
#include <cmath>
#include <limits>

#include "stdlib/native/elements.hpp"
#include "stdlib/native/functions.hpp"

namespace raddle::stdlib::native {
namespace {

using vm::Value;

/// All but the deviation.
template <typename T>
vm::Reduction<T> reduce(const Value& array) {
  return array.as_array().reduce<T>(/*has_deviation=*/false);
}

template <typename T>
vm::Reduction<T> deviate(const Value& array) {
  return array.as_array().reduce<T>();
}

// Functions of several names, and those written in the language, call these: the words are of what is computed.
Result no_elements(const char* what) { return fail(std::string("an empty array has no ") + what); }

// One NaN makes the result NaN.
template <typename T>
Result extreme(const char* what, const Value& array, T vm::Reduction<T>::*which, Results results) {
  const vm::Reduction<T> all = reduce<T>(array);
  if (all.count == 0) return no_elements(what);
  return give(results, Value::of(all.has_nan ? std::numeric_limits<T>::quiet_NaN() : all.*which));
}

template <typename T>
Result mean_and_deviation(const vm::Reduction<T>& all, Results results) {
  if (all.count == 0) return no_elements("mean and deviation");
  results[0] = Value::of(all.mean());
  results[1] = Value::of(all.deviation(all.count));
  return {};
}

template <typename T>
Result count_mean_m2(const vm::Reduction<T>& all, Results results) {
  results[0] = Value::of(all.count);
  results[1] = Value::of(all.count == 0 ? 0.0 : all.mean());
  results[2] = Value::of(all.squares());
  return {};
}

template <typename T>
Result mean(const vm::Reduction<T>& all, Results results) {
  if (all.count == 0) return no_elements("mean");
  return give(results, Value::of(all.mean()));
}

template <typename T>
Result variance(const vm::Reduction<T>& all, Results results) {
  if (all.count == 0) return no_elements("variance");
  return give(results, Value::of(all.squares() / static_cast<double>(all.count)));
}

template <typename T>
Result only_deviation(const vm::Reduction<T>& all, Results results) {
  if (all.count == 0) return no_elements("standard deviation");
  return give(results, Value::of(all.deviation(all.count)));
}

}  // namespace

Result sum_int(Call, Arguments arguments, Results results) {
  const auto sum = reduce<std::int64_t>(arguments[0]).sum.sum;
  const auto result = static_cast<std::int64_t>(sum);
  if (result != sum) return fail("integer overflow");
  return give(results, Value::of(result));
}

Result sum_float(Call, Arguments arguments, Results results) {
  return give(results, Value::of(reduce<double>(arguments[0]).total()));
}

Result max_of_ints(Call, Arguments arguments, Results results) {
  return extreme("largest element", arguments[0], &vm::Reduction<std::int64_t>::greatest, results);
}
Result min_of_ints(Call, Arguments arguments, Results results) {
  return extreme("smallest element", arguments[0], &vm::Reduction<std::int64_t>::least, results);
}
Result max_of_floats(Call, Arguments arguments, Results results) {
  return extreme("largest element", arguments[0], &vm::Reduction<double>::greatest, results);
}
Result min_of_floats(Call, Arguments arguments, Results results) {
  return extreme("smallest element", arguments[0], &vm::Reduction<double>::least, results);
}

Result avg_of_ints(Call, Arguments arguments, Results results) {
  return mean(reduce<std::int64_t>(arguments[0]), results);
}
Result avg_of_floats(Call, Arguments arguments, Results results) { return mean(reduce<double>(arguments[0]), results); }

Result var_of_ints(Call, Arguments arguments, Results results) {
  return variance(deviate<std::int64_t>(arguments[0]), results);
}
Result var_of_floats(Call, Arguments arguments, Results results) {
  return variance(deviate<double>(arguments[0]), results);
}

Result std_of_ints(Call, Arguments arguments, Results results) {
  return only_deviation(deviate<std::int64_t>(arguments[0]), results);
}
Result std_of_floats(Call, Arguments arguments, Results results) {
  return only_deviation(deviate<double>(arguments[0]), results);
}

Result stats_of_ints(Call, Arguments arguments, Results results) {
  return mean_and_deviation(deviate<std::int64_t>(arguments[0]), results);
}
Result stats_of_floats(Call, Arguments arguments, Results results) {
  return mean_and_deviation(deviate<double>(arguments[0]), results);
}

Result statagg_of_ints(Call, Arguments arguments, Results results) {
  return count_mean_m2(deviate<std::int64_t>(arguments[0]), results);
}
Result statagg_of_floats(Call, Arguments arguments, Results results) {
  return count_mean_m2(deviate<double>(arguments[0]), results);
}

// stat_combine of stats.df, which takes the parts out of their structures: counts, means, M2s. Where a sum would be too
// large for a float, all numbers are taken for smaller ones, by a power of two, which loses nothing.
Result combine_moments(Call, Arguments arguments, Results results) {
  std::vector<vm::Reduction<double>> parts;
  visit_numbers<std::int64_t>(arguments[0], [&](std::int64_t count) { parts.emplace_back().count = count; });
  std::vector<double> means;
  double all_sums = 0;
  visit_numbers<double>(arguments[1], [&](double mean) {
    all_sums += std::abs(mean) * static_cast<double>(parts.at(means.size()).count);
    means.push_back(mean);
  });
  const int exponent = std::isfinite(all_sums) ? 0 : 64;  // counts are less than 2^63
  for (std::size_t i = 0; i < means.size(); ++i) {
    const double mean = std::ldexp(means[i], -exponent), count = static_cast<double>(parts[i].count);
    const double sum = mean * count;
    parts[i].sum = {sum, std::fma(mean, count, -sum)};
  }
  std::size_t next = 0;
  visit_numbers<double>(arguments[2], [&](double m2) { parts.at(next++).m2 = std::ldexp(m2, -2 * exponent); });
  vm::Reduction<double> all;
  for (const vm::Reduction<double>& part : parts) all = all.joined(part);
  if (all.count == 0) return fail("stat_combine: there are no numbers");
  results[0] = Value::of(all.count);
  results[1] = Value::of(std::ldexp(all.mean(), exponent));
  results[2] = Value::of(std::ldexp(all.deviation(all.count), exponent));
  return {};
}

}  // namespace raddle::stdlib::native
