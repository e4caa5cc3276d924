#pragma once
// A sweep's results as they are handed over: files of CSV, JSON lines and Parquet, a few lines for a terminal.
#include <cstddef>
#include <expected>
#include <span>
#include <string>
#include <vector>

#include "compiler/sweep/results.hpp"

namespace raddle::sweep {

enum class Statistic : std::uint8_t { mean, std_, n, min, max, sum };
std::optional<Statistic> statistic_named(std::string_view name);
std::vector<std::string> statistic_names();

/// `--group-by` and `--agg`; no statistics: a row for each point.
struct Grouping {
  std::vector<std::size_t> parameters;
  std::vector<Statistic> statistics;
};

enum class TableForm : std::uint8_t { csv, json_lines, parquet };

/// Parameters, results, outcome, duration_s; or what the grouping makes of them.
class Table {
 public:
  Table(const ResultRows& rows, Grouping grouping) : rows_(rows), grouping_(std::move(grouping)) {}
  /// Writes it under a temporary name beside `path`, and renames that at the end.
  /// @error  "can not write `x.csv`: no space left on device"
  std::expected<void, std::string> write_file(const std::string& path, TableForm form) const;
  /// To standard output.
  std::expected<void, std::string> print_csv() const;
  /// The first rows, in columns, and whether there are more.
  std::string excerpt(std::size_t most_rows) const;

 private:
  using Cells = std::vector<std::string>;
  using Visit = std::function<bool(std::span<const std::string_view> row)>;
  Cells columns(const Cells& results) const;
  void for_each(const Cells& results, const Visit& visit) const;
  void for_each_group(const Cells& results, const Visit& visit) const;
  /// @param most_rows  looks at no more than these; 0: at all
  Cells result_names(std::size_t most_rows) const;
  std::expected<void, std::string> write(int fd, TableForm form) const;
  std::vector<ValueType> cell_types(const Cells& results, std::size_t column_count) const;

  const ResultRows& rows_;
  Grouping grouping_;
};

}  // namespace raddle::sweep
