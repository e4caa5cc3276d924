#pragma once
// Tables as comma-separated values (RFC 4180): a head with the columns' names, then rows.
#include <cstddef>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace raddle::sweep {

/// A table read from text; rows are cut into cells when they are asked for.
class CsvTable {
 public:
  /// @param name  of the text, for errors: "points.csv:3: 2 cells, but the head has 3"
  static std::expected<CsvTable, std::string> parse(std::string text, const std::string& name);
  const std::vector<std::string>& columns() const { return columns_; }
  std::size_t size() const { return row_begins_.size(); }
  /// Cells; blanks around a number are no part of it.
  std::vector<std::string> row(std::size_t index) const;

 private:
  std::string text_;
  std::vector<std::string> columns_;
  std::vector<std::size_t> row_begins_;  // bytes of text_
};

/// A row as it is written, with the newline; cells in quotes where they must be, as an empty one by itself, which would
/// be no row. What is no UTF-8 is replaced.
void append_csv_row(std::string& text, std::span<const std::string_view> cells);

}  // namespace raddle::sweep
