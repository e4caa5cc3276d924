#include "compiler/tool/report/summary.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <random>
#include <unordered_map>

#include "compiler/tool/space/cells.hpp"
#include "compiler/tool/formats/scan.hpp"

namespace raddle::report {
namespace {

/// inf and nan are numbers, too, as a script's results have them.
std::optional<double> number_of(std::string_view cell) {
  if (const std::optional<double> number = sweep::read_number(cell)) return number;
  return sweep::is_not_finite(cell) ? std::optional(std::numeric_limits<double>::quiet_NaN()) : std::nullopt;
}

/// The first pass over one column.
class ColumnMeter {
 public:
  ColumnMeter(const TableColumn& column, const SummaryLimits& limits) : limits_(limits) {
    summary_.name = column.name;
    summary_.role = column.role;
    summary_.least.value = std::numeric_limits<double>::infinity();
    summary_.greatest.value = -summary_.least.value;
  }

  void add(std::string_view cell, std::span<const std::string_view> parameters) {
    if (sweep::is_missing(cell)) return;
    ++summary_.filled;
    count_text(cell);
    if (!is_number_) return;
    const std::optional<double> number = number_of(cell);
    is_number_ = number.has_value();
    if (number) add_number(*number, parameters);
  }

  ColumnSummary summary(std::uint64_t rows) {
    const bool has_few_texts = texts_.size() <= limits_.categories;
    const bool is_number = is_number_ && summary_.finite() != 0;
    summary_.kind = is_number ? ColumnKind::number : has_few_texts ? ColumnKind::category : ColumnKind::text;
    summary_.is_constant = summary_.filled == rows && texts_.size() == 1;
    if (summary_.finite() > 1) summary_.deviation = std::sqrt(squares_ / static_cast<double>(summary_.finite() - 1));
    if (is_number && values_.size() <= limits_.values)
      for (const double value : values_) summary_.values.push_back(value);
    if (summary_.kind == ColumnKind::category)
      for (const std::string& name : order_) summary_.categories.push_back({name, texts_[name]});
    return std::move(summary_);
  }

 private:
  void count_text(std::string_view cell) {
    if (texts_.size() > limits_.categories) return;
    if (cell != last_ || last_count_ == nullptr) {
      last_ = cell;
      const auto [found, is_new] = texts_.try_emplace(last_, 0);
      if (is_new) order_.push_back(last_);
      last_count_ = &found->second;
    }
    ++*last_count_;
  }

  void add_number(double number, std::span<const std::string_view> parameters) {
    if (!std::isfinite(number)) {
      ++summary_.not_finite;
      return;
    }
    const double distance = number - summary_.mean;
    summary_.mean += distance / static_cast<double>(summary_.finite());
    squares_ += distance * (number - summary_.mean);
    if (number > 0 && summary_.least.value > 0)
      summary_.mean_logarithm += (std::log(number) - summary_.mean_logarithm) / static_cast<double>(summary_.finite());
    if (number < summary_.least.value) summary_.least = {number, {parameters.begin(), parameters.end()}};
    if (number > summary_.greatest.value) summary_.greatest = {number, {parameters.begin(), parameters.end()}};
    if (values_.size() > limits_.values) return;
    const auto place = std::ranges::lower_bound(values_, number);
    if (place == values_.end() || *place != number) values_.insert(place, number);
  }

  const SummaryLimits& limits_;
  ColumnSummary summary_;
  bool is_number_ = true;
  double squares_ = 0;
  std::vector<double> values_;                            // sorted; one more than the limit: many
  std::unordered_map<std::string, std::uint64_t> texts_;  // the same
  std::vector<std::string> order_;
  std::string last_;
  std::uint64_t* last_count_ = nullptr;
};

/// Eight bins for each power of ten.
class DurationMeter {
 public:
  void add(std::string_view cell) {
    const std::optional<double> seconds = sweep::read_number(cell);
    if (!seconds) return;
    ++counts_[static_cast<int>(std::floor(std::log10(std::max(*seconds, shortest_s)) * bins_per_decade))];
  }
  std::vector<DurationBin> bins() const {
    std::vector<DurationBin> bins;
    if (counts_.empty()) return bins;
    for (int i = counts_.begin()->first; i <= counts_.rbegin()->first; ++i) {
      const auto found = counts_.find(i);
      bins.push_back({edge(i), edge(i + 1), found == counts_.end() ? 0 : found->second});
    }
    return bins;
  }

 private:
  static constexpr double bins_per_decade = 8, shortest_s = 1e-9;
  static double edge(int bin) { return std::pow(10.0, bin / bins_per_decade); }
  std::map<int, std::uint64_t> counts_;
};

/// Which bin of a parameter a cell falls into.
class Binning {
 public:
  Binning(const ColumnSummary& column, std::size_t most_bins) : column_(column), is_log_(is_logarithmic(column)) {
    if (column.kind == ColumnKind::category) {
      for (std::size_t i = 0; i < column.categories.size(); ++i) by_name_[column.categories[i].name] = i;
      for (std::size_t i = 0; i < column.categories.size(); ++i) add_value(static_cast<double>(i));
    } else if (!column.values.empty()) {
      for (const double value : column.values) add_value(value);
    } else {
      from_ = place(column.least.value);
      width_ = (place(column.greatest.value) - from_) / static_cast<double>(most_bins);
      for (std::size_t i = 0; i < most_bins; ++i)
        bins_.push_back(
            {unplace(from_ + width_ * static_cast<double>(i)), unplace(from_ + width_ * static_cast<double>(i + 1))});
    }
  }

  const std::vector<Bin>& empty_bins() const { return bins_; }

  std::optional<std::size_t> bin_of(std::string_view cell) {
    if (sweep::is_missing(cell)) return std::nullopt;
    if (cell == last_) return last_bin_;
    last_bin_ = find(last_.emplace(cell));
    return last_bin_;
  }

 private:
  void add_value(double value) { bins_.push_back({value, value}); }
  double place(double value) const { return is_log_ ? std::log10(value) : value; }
  double unplace(double where) const { return is_log_ ? std::pow(10, where) : where; }

  std::optional<std::size_t> find(const std::string& cell) const {
    if (column_.kind == ColumnKind::category) {
      const auto found = by_name_.find(cell);
      return found == by_name_.end() ? std::nullopt : std::optional(found->second);
    }
    const std::optional<double> number = number_of(cell);
    if (!number || !std::isfinite(*number)) return std::nullopt;
    if (!column_.values.empty())
      return static_cast<std::size_t>(std::ranges::lower_bound(column_.values, *number) - column_.values.begin());
    return static_cast<std::size_t>(
        std::clamp((place(*number) - from_) / width_, 0.0, static_cast<double>(bins_.size() - 1)));
  }

  const ColumnSummary& column_;
  bool is_log_;
  double from_ = 0, width_ = 1;
  std::vector<Bin> bins_;
  std::unordered_map<std::string, std::size_t> by_name_;
  std::optional<std::string> last_;
  std::optional<std::size_t> last_bin_;
};

void add(Bin& bin, double value) {
  ++bin.count;
  bin.mean += (value - bin.mean) / static_cast<double>(bin.count);
  bin.least = std::min(bin.least, value);
  bin.greatest = std::max(bin.greatest, value);
}

bool is_drawn(const ColumnSummary& column, Role role) {
  return column.role == role && column.kind != ColumnKind::text && column.filled != 0;
}

/// The second pass: every numeric result over every parameter.
class MarginalMeter {
 public:
  explicit MarginalMeter(const std::vector<ColumnSummary>& columns) {
    std::vector<std::size_t> results;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (is_drawn(columns[i], Role::parameter) && !columns[i].is_constant) parameters_.push_back(i);
      if (is_drawn(columns[i], Role::result) && columns[i].kind == ColumnKind::number) results.push_back(i);
    }
    constexpr std::size_t all_bins = 20'000, fewest = 8, most = 48;  // what the page may weigh
    const std::size_t pairs = std::max<std::size_t>(parameters_.size() * results.size(), 1);
    for (const std::size_t parameter : parameters_) {
      binnings_.emplace_back(columns[parameter], std::clamp(all_bins / pairs, fewest, most));
      for (const std::size_t result : results) marginals_.push_back({parameter, result, binnings_.back().empty_bins()});
    }
    results_ = std::move(results);
  }

  void add_row(std::span<const std::string_view> cells) {
    values_.clear();
    for (const std::size_t result : results_) values_.push_back(number_of(cells[result]));
    auto marginal = marginals_.begin();
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const std::optional<std::size_t> bin = binnings_[i].bin_of(cells[parameters_[i]]);
      for (const std::optional<double>& value : values_) {
        if (bin && value && std::isfinite(*value)) add(marginal->bins[*bin], *value);
        ++marginal;
      }
    }
  }

  std::vector<Marginal> take() {
    for (Marginal& marginal : marginals_) std::erase_if(marginal.bins, [](const Bin& bin) { return bin.count == 0; });
    return std::move(marginals_);
  }

 private:
  std::vector<std::size_t> parameters_, results_;
  std::vector<Binning> binnings_;
  std::vector<Marginal> marginals_;  // by parameter, then by result
  std::vector<std::optional<double>> values_;
};

/// Takes `wanted` of `rows` rows, each with the same chance, in their order.
class Sampler {
 public:
  Sampler(std::uint64_t rows, std::uint64_t wanted) : rows_(rows), wanted_(std::min(rows, wanted)) {}
  bool takes_next() {
    if (wanted_ == 0 || rows_ == 0) return false;
    const bool is_taken = std::uniform_int_distribution<std::uint64_t>(1, rows_--)(chance_) <= wanted_;
    if (is_taken) --wanted_;
    return is_taken;
  }

 private:
  std::uint64_t rows_, wanted_;
  std::mt19937_64 chance_;  // of a fixed seed
};

}  // namespace

std::string shown_value(const std::string& value) { return value.empty() ? "\"\"" : value; }

bool is_logarithmic(const ColumnSummary& column) {
  constexpr double ratio = 1000;
  const double least = column.least.value, greatest = column.greatest.value;
  if (column.kind != ColumnKind::number || least <= 0 || greatest < ratio * least) return false;
  const double middle = (column.mean - least) / (greatest - least);
  const double log_middle = (column.mean_logarithm - std::log(least)) / std::log(greatest / least);
  return std::abs(log_middle - 0.5) < std::abs(middle - 0.5);
}

TableSummary summarise(const TableSource& table, const SummaryLimits& limits) {
  TableSummary summary;
  std::vector<ColumnMeter> meters;
  for (const TableColumn& column : table.columns) meters.emplace_back(column, limits);
  const auto parameter_count =
      static_cast<std::size_t>(std::ranges::count(table.columns, Role::parameter, &TableColumn::role));
  DurationMeter durations;
  std::uint64_t bytes = 0;
  table.for_each([&](std::span<const std::string_view> cells) {
    ++summary.rows;
    for (std::size_t i = 0; i < meters.size(); ++i) {
      meters[i].add(cells[i], cells.first(parameter_count));
      bytes += cells[i].size() + 1;
      if (table.columns[i].role == Role::duration) durations.add(cells[i]);
    }
    return true;
  });
  for (ColumnMeter& meter : meters) summary.columns.push_back(meter.summary(summary.rows));
  summary.durations = durations.bins();
  if (summary.rows == 0) return summary;

  MarginalMeter marginals(summary.columns);
  const std::uint64_t fitting = limits.sample_bytes / std::max<std::uint64_t>(bytes / summary.rows, 1) + 1;
  Sampler sampler(summary.rows, std::min<std::uint64_t>(limits.sample_rows, fitting));
  table.for_each([&](std::span<const std::string_view> cells) {
    marginals.add_row(cells);
    if (!sampler.takes_next()) return true;
    TableSummary::Row& row = summary.sample.emplace_back();
    for (const std::string_view cell : cells)
      row.push_back(sweep::is_missing(cell) ? std::nullopt : std::optional<std::string>(cell));
    return true;
  });
  summary.marginals = marginals.take();
  return summary;
}

}  // namespace raddle::report
