#pragma once
// A sweep's results as they are handed over: files of CSV, JSON lines and Parquet, a few lines for a terminal.
#include <cstddef>
#include <expected>
#include <span>
#include <string>
#include <vector>

#include "compiler/tool/formats/name_list.hpp"
#include "compiler/tool/sweep/results.hpp"
#include "compiler/tool/sweep/statistics.hpp"
#include "compiler/tool/formats/writer.hpp"

namespace raddle::sweep {

/// `--group-by` and `--agg`; no statistics: a row for each point.
struct Grouping {
  std::vector<std::size_t> parameters;
  std::vector<Statistic> statistics;
};

enum class TableForm : std::uint8_t { csv, json_lines, parquet };

/// Parameters, results, outcome, duration_s, reason; or what the grouping makes of them.
class Table {
 public:
  Table(const ResultRows& rows, Grouping grouping) : rows_(rows), grouping_(std::move(grouping)) {}
  /// See write_file() of writer.hpp.
  std::expected<void, std::string> write_file(const std::string& path, TableForm form) const;
  /// To standard output.
  std::expected<void, std::string> print_csv() const;
  /// The first rows, in columns, and whether there are more.
  std::string excerpt(std::size_t most_rows) const;

  using Cells = std::vector<std::string>;
  using Visit = std::function<bool(std::span<const std::string_view> row)>;
  /// The names of all results, in the order in which they first come.
  Cells result_names() const { return result_names(all_rows); }
  /// Values of a result that its statistics leave out, which are texts, or count as 1 and 0 beside numbers.
  struct NonNumbers {
    std::string name, example;  ///< the first text
    std::uint64_t texts = 0, booleans = 0, numbers = 0;
  };
  std::vector<NonNumbers> non_numbers() const;
  /// The names of the columns. @param results  names of those that are wanted
  Cells columns(const Cells& results) const;
  /// @param visit  returns false to end it
  void for_each(const Cells& results, const Visit& visit) const;

 private:
  static constexpr std::size_t all_rows = 0;
  void for_each_group(const Cells& results, const Visit& visit) const;
  /// @param most_rows  looks at no more than these; all_rows: at all
  Cells result_names(std::size_t most_rows) const;
  void write(Writer& writer, TableForm form) const;
  std::vector<CellType> cell_types(const Cells& results, std::size_t column_count) const;
  std::vector<CellType> result_types(const Cells& results) const;

  const ResultRows& rows_;
  Grouping grouping_;
};

}  // namespace raddle::sweep
