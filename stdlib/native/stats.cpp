// Sums, means and deviations of arrays.
#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "stdlib/native/elements.hpp"
#include "stdlib/native/functions.hpp"

namespace raddle::stdlib::native {
namespace {

using vm::Value;

// Welford's numbers: M2 is the sum of squared distances from the mean.
struct Moments {
  std::int64_t count = 0;
  double mean = 0, m2 = 0;
};

Moments moments_of(const Value& array) {
  Moments moments;
  for (const double x : numbers(array)) {
    const double distance = x - moments.mean;
    moments.mean += distance / static_cast<double>(++moments.count);
    moments.m2 += distance * (x - moments.mean);
  }
  return moments;
}

double deviation(const Moments& moments) { return std::sqrt(moments.m2 / static_cast<double>(moments.count)); }

// Neumaier's sum: its error does not grow with the number of elements.
double exact_sum(const std::vector<double>& values) {
  double sum = 0, lost = 0;
  for (const double value : values) {
    const double next = sum + value;
    lost += std::abs(sum) >= std::abs(value) ? (sum - next) + value : (value - next) + sum;
    sum = next;
  }
  return std::isfinite(lost) ? sum + lost : sum;  // with Inf among them there is nothing to correct
}

Result no_elements(const char* name) { return fail(std::string(name) + ": the array is empty"); }

// `is_better(new, best)` decides. An array without elements has no best one.
template <typename T, typename IsBetter>
Result best(const char* name, const Value& array, IsBetter is_better, Results results) {
  std::optional<T> best_value;
  visit_numbers<T>(array, [&](T value) {
    if (!best_value || is_better(value, *best_value)) best_value = value;
  });
  if (!best_value) return no_elements(name);
  return give(results, Value::of(*best_value));
}

}  // namespace

Result sum_int(Call, Arguments arguments, Results results) {
  std::int64_t sum = 0;
  bool overflow = false;
  visit_numbers<std::int64_t>(arguments[0],
                              [&](std::int64_t value) { overflow |= __builtin_add_overflow(sum, value, &sum); });
  if (overflow) return fail("integer overflow");
  return give(results, Value::of(sum));
}

Result sum_float(Call, Arguments arguments, Results results) {
  return give(results, Value::of(exact_sum(numbers(arguments[0]))));
}

Result max_of_ints(Call, Arguments arguments, Results results) {
  return best<std::int64_t>("max", arguments[0], std::greater(), results);
}
Result min_of_ints(Call, Arguments arguments, Results results) {
  return best<std::int64_t>("min", arguments[0], std::less(), results);
}

// One NaN makes the result NaN.
Result max_of_floats(Call, Arguments arguments, Results results) {
  return best<double>(
      "max", arguments[0], [](double a, double b) { return a > b || std::isnan(a); }, results);
}
Result min_of_floats(Call, Arguments arguments, Results results) {
  return best<double>(
      "min", arguments[0], [](double a, double b) { return a < b || std::isnan(a); }, results);
}

Result avg(Call, Arguments arguments, Results results) {
  const std::vector<double> values = numbers(arguments[0]);
  if (values.empty()) return no_elements("avg");
  return give(results, Value::of(exact_sum(values) / static_cast<double>(values.size())));
}

Result std_(Call, Arguments arguments, Results results) {
  const Moments moments = moments_of(arguments[0]);
  if (moments.count == 0) return no_elements("std");
  return give(results, Value::of(deviation(moments)));
}

Result stats(Call, Arguments arguments, Results results) {
  const Moments moments = moments_of(arguments[0]);
  if (moments.count == 0) return no_elements("stats");
  results[0] = Value::of(moments.mean);
  results[1] = Value::of(deviation(moments));
  return {};
}

Result statagg(Call, Arguments arguments, Results results) {
  const Moments moments = moments_of(arguments[0]);
  results[0] = Value::of(moments.count);
  results[1] = Value::of(moments.mean);
  results[2] = Value::of(moments.m2);
  return {};
}

// stat_combine of stats.df, which takes the parts out of their structures: counts, means, M2s. By Chan's formula.
Result combine_moments(Call, Arguments arguments, Results results) {
  const std::vector<double> counts = numbers(arguments[0]), means = numbers(arguments[1]), m2s = numbers(arguments[2]);
  Moments all;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double before = static_cast<double>(all.count), after = before + counts[i];
    if (after == 0) continue;
    const double distance = means[i] - all.mean;
    all.mean += distance * counts[i] / after;
    all.m2 += m2s[i] + distance * distance * before * counts[i] / after;
    all.count = static_cast<std::int64_t>(after);
  }
  if (all.count == 0) return fail("stat_combine: there are no numbers");
  results[0] = Value::of(all.count);
  results[1] = Value::of(all.mean);
  results[2] = Value::of(deviation(all));
  return {};
}

}  // namespace raddle::stdlib::native
