#include "compiler/tool/sweep/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <utility>

#include "compiler/tool/formats/scan.hpp"
#include "compiler/tool/space/values.hpp"

namespace raddle::sweep {
namespace {

constexpr std::array<std::pair<std::string_view, Statistic>, 6> statistics = {{{"mean", Statistic::mean},
                                                                               {"std", Statistic::std_},
                                                                               {"n", Statistic::n},
                                                                               {"min", Statistic::min},
                                                                               {"max", Statistic::max},
                                                                               {"sum", Statistic::sum}}};

/// @pre is_counted(result)
double number_of(std::string_view result) {
  if (const std::optional<double> number = read_number(result)) return *number;
  const bool is_negative = result.starts_with('-');
  if (std::tolower(static_cast<unsigned char>(result[is_negative ? 1 : 0])) == 'n')
    return std::numeric_limits<double>::quiet_NaN();
  return is_negative ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
}

/// So that `min` is the text of one of the values, and equal means are equal texts.
std::string exact_text(double number) {
  return std::isnan(number) ? "nan" : fmt::format("{}", number == 0 ? 0.0 : number);
}

}  // namespace

std::optional<Statistic> statistic_named(std::string_view name) {
  for (const auto& [known, statistic] : statistics)
    if (known == name) return statistic;
  return std::nullopt;
}

std::string_view name_of(Statistic statistic) {
  return std::ranges::find(statistics, statistic, &std::pair<std::string_view, Statistic>::second)->first;
}

std::vector<std::string> statistic_names() {
  std::vector<std::string> names;
  for (const auto& each : statistics) names.emplace_back(each.first);
  return names;
}

bool is_boolean(std::string_view result) { return result == "true" || result == "false"; }

bool is_counted(std::string_view result) {
  return is_boolean(result) || is_not_finite(result) || read_number(result).has_value();
}

void Summary::add(std::string_view result) {
  const bool is_int = is_boolean(result) || type_of(result) == ValueType::int_;
  const std::int64_t whole = is_boolean(result) ? result == "true" : is_int ? read_int(result) : 0;
  const double number = is_int ? static_cast<double>(whole) : number_of(result);
  if (count_++ == 0) {
    first_int_ = least_int_ = greatest_int_ = whole;
    first_ = std::isfinite(number) ? number : 0;
  }
  are_ints_ &= is_int;
  if (are_ints_) {
    int_sum_.sum += whole;
    least_int_ = std::min(least_int_, whole);
    greatest_int_ = std::max(greatest_int_, whole);
  }
  sum_.add(number);
  least_ = std::min(least_, number);
  greatest_ = std::max(greatest_, number);
  has_nan_ |= std::isnan(number);
  all_ = all_.joined(vm::Reduction<double>::of({&number, 1}));
  add_distance(are_ints_ ? static_cast<double>(vm::WideSum::Wide{whole} - first_int_) : number - first_);
}

void Summary::add_distance(double distance) {
  const double from_mean = distance - mean_distance_;
  mean_distance_ += from_mean / static_cast<double>(count_);
  squares_ += from_mean * (distance - mean_distance_);
}

std::string Summary::text(Statistic statistic) const {
  if (statistic == Statistic::n) return std::to_string(count_);
  if (count_ == 0 || (statistic == Statistic::std_ && count_ == 1)) return "";
  if (has_nan_) return "nan";
  const auto count = static_cast<std::int64_t>(count_);
  const double sum = are_ints_ ? int_sum_.total() : std::isfinite(sum_.total()) ? sum_.total() : all_.total();
  switch (statistic) {
    case Statistic::n: break;
    case Statistic::mean:
      if (are_ints_) return exact_text(int_sum_.mean(count));
      return exact_text(std::isfinite(sum_.total()) ? sum / static_cast<double>(count_) : all_.mean());
    case Statistic::std_:
      return exact_text(std::isfinite(squares_) ? std::sqrt(squares_ / static_cast<double>(count_ - 1))
                                                : all_.deviation(count - 1));
    case Statistic::min: return are_ints_ ? std::to_string(least_int_) : exact_text(least_);
    case Statistic::max: return are_ints_ ? std::to_string(greatest_int_) : exact_text(greatest_);
    case Statistic::sum: return are_ints_ ? fmt::format("{}", int_sum_.sum) : exact_text(sum);
  }
  return "";
}

}  // namespace raddle::sweep
