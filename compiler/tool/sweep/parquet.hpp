#pragma once
// A table as a Parquet file (format version 1): columns of int64, double or UTF-8 text (booleans, too) that may lack
// values, plain encoding, nothing compressed.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/tool/space/cells.hpp"

namespace raddle::sweep {

/// Makes the file piece by piece: each function appends what comes next.
class ParquetWriter {
 public:
  ParquetWriter(std::vector<std::string> names, std::vector<CellType> types);
  void begin(std::string& out);
  /// @param cells  of the columns' types; empty ones have no value. What is no UTF-8 gets replacement characters, as in
  ///               JSON. Appends a row group now and then
  void add(std::string& out, std::span<const std::string_view> cells);
  void end(std::string& out);

 private:
  struct Column {
    std::string values;          // plain
    std::vector<bool> is_there;  // of each row
  };
  /// Where a column's values of one row group lie.
  struct Chunk {
    std::uint64_t offset = 0, size = 0;
  };
  struct RowGroup {
    std::vector<Chunk> chunks;
    std::uint64_t row_count = 0;
  };
  void end_row_group(std::string& out);
  void append(std::string& out, std::string_view bytes);
  std::string footer() const;

  const std::vector<std::string> names_;
  const std::vector<CellType> types_;
  std::vector<Column> columns_;
  std::vector<RowGroup> groups_;
  std::uint64_t rows_in_group_ = 0, row_count_ = 0, size_ = 0;
  std::uint64_t bytes_in_group_ = 0;  // of texts: a page's size is an int32
};

}  // namespace raddle::sweep
