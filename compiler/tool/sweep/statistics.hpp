#pragma once
// `--agg`: what many values of a result come to.
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vm/value/reduction.hpp"

namespace raddle::sweep {

enum class Statistic : std::uint8_t { mean, std_, n, min, max, sum };
std::optional<Statistic> statistic_named(std::string_view name);
std::string_view name_of(Statistic statistic);
std::vector<std::string> statistic_names();

/// Is it counted: a number, infinities and NaN among them, or a boolean, which is 1 or 0?
bool is_counted(std::string_view result);
/// `true` or `false`, which count as 1 and 0.
bool is_boolean(std::string_view result);

/// As `sum`, `avg` and the like of the language: one NaN makes all but the number NaN; the sum is compensated, the mean
/// is the sum by the number. The deviation is that of a sample, by Welford's running variance of the distances from the
/// first value. While all values are ints, their sum and extremes are exact.
class Summary {
 public:
  /// @pre is_counted(result)
  void add(std::string_view result);
  /// "" where it is not defined.
  std::string text(Statistic statistic) const;

 private:
  void add_distance(double distance);

  std::uint64_t count_ = 0;
  bool are_ints_ = true;
  vm::WideSum int_sum_;
  std::int64_t first_int_ = 0, least_int_ = 0, greatest_int_ = 0;
  vm::CompensatedSum sum_;
  double first_ = 0, least_ = std::numeric_limits<double>::infinity(), greatest_ = -least_;
  bool has_nan_ = false;
  double mean_distance_ = 0, squares_ = 0;
  vm::Reduction<double> all_;  ///< for sums and squares that are too large for a float, though their mean is not
};

}  // namespace raddle::sweep
