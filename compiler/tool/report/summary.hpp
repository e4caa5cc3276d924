#pragma once
// What a report says of a table: each column by itself, results against parameters, a sample of the rows.
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "compiler/tool/report/table_source.hpp"

namespace raddle::report {

enum class ColumnKind : std::uint8_t {
  number,
  category,  ///< few different texts
  text,      ///< many: not drawn
};

struct Extreme {
  double value = 0;
  std::vector<std::string> parameters;  ///< of the first row that has it
};

struct Category {
  std::string name;
  std::uint64_t count = 0;
};

struct ColumnSummary {
  std::string name;
  Role role = Role::parameter;
  ColumnKind kind = ColumnKind::number;
  std::uint64_t filled = 0;      ///< rows that have something there
  std::uint64_t not_finite = 0;  ///< of a number: inf, nan
  double mean = 0, deviation = 0;
  double mean_logarithm = 0;         ///< of a number, where all are positive
  Extreme least, greatest;           ///< of a number, where it has a finite one
  std::vector<double> values;        ///< of a number: all different ones, increasing; none if they are many
  std::vector<Category> categories;  ///< of a category
  /// There is one value, and every row has it.
  bool is_constant = false;

  std::uint64_t finite() const { return filled - not_finite; }
};

struct Bin {
  double from = 0, to = 0;  ///< of the parameter, equal if it is one value; of a category: its index
  std::uint64_t count = 0;
  double mean = 0;
  double least = std::numeric_limits<double>::infinity(), greatest = -least;
};

/// A result for values of a parameter, whatever the other parameters are.
struct Marginal {
  std::size_t parameter = 0, result = 0;  ///< columns
  std::vector<Bin> bins;                  ///< those with rows
};

struct DurationBin {
  double from_s = 0, to_s = 0;
  std::uint64_t count = 0;
};

struct TableSummary {
  std::uint64_t rows = 0;
  std::vector<ColumnSummary> columns;
  std::vector<Marginal> marginals;
  using Row = std::vector<std::optional<std::string>>;  ///< none: not there
  std::vector<DurationBin> durations;                   ///< from the shortest to the longest, without gaps
  std::vector<Row> sample;                              ///< in their order; all of them if they are few
};

struct SummaryLimits {
  std::size_t sample_rows = 5000;
  std::size_t sample_bytes = 1'500'000;
  std::size_t categories = 40;
  std::size_t values = 60;  ///< a parameter with more is binned
};

/// Reads the table twice. The sample is drawn by chance, the same for the same table.
TableSummary summarise(const TableSource& table, const SummaryLimits& limits = {});

/// An empty string is shown as `""`.
std::string shown_value(const std::string& value);

/// Values that lie more evenly on a logarithmic axis, over several powers of ten, are drawn on one.
bool is_logarithmic(const ColumnSummary& column);

}  // namespace raddle::report
