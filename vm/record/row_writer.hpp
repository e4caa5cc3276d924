#pragma once
// Rows of one run, written into tables of the record's form.
#include <optional>
#include <string>
#include <vector>

#include "vm/record/run_record.hpp"

namespace raddle::vm {

/// One thread.
class RowWriter {
 public:
  /// @param database  outlives it   @param run_row  of the run
  RowWriter(Database& database, std::int64_t run_row) : database_(database), run_row_(run_row) {}
  /// All or nothing. @throws RecordError
  void write(const std::vector<PointRow>& rows, const std::vector<BlockRow>& blocks);

 private:
  void insert(const PointRow& row);
  void insert(const BlockRow& block);
  Database& database_;
  const std::int64_t run_row_;
  std::optional<Statement> insert_point_, insert_task_, insert_block_;
};

}  // namespace raddle::vm
