#pragma once
// Rows that could not be written into the record yet, because others hold it locked: they lie in a database of the same
// form beside it, `.raddle/spilled-RUN.db`, and are moved into the record by the run itself when it can be written, or,
// if the run was killed, by whoever opens the record next.
#include <memory>
#include <string>
#include <vector>

#include "vm/record/row_writer.hpp"

namespace raddle::vm {

/// Of one run; one thread.
class SpilledRows {
 public:
  SpilledRows(std::string run, std::int64_t run_row);
  /// @throws RecordError
  void write(const std::vector<PointRow>& rows, const std::vector<BlockRow>& blocks);
  /// Moves all of them into the record. @throws RecordBusy, and they stay where they are
  void move_into(Database& record);

 private:
  const std::string run_;
  const std::int64_t run_row_;
  std::unique_ptr<Database> database_;  ///< null: not open
  std::unique_ptr<RowWriter> writer_;
};

/// Moves what runs have left that do not live any more. What can not be moved now stays; what is damaged is renamed
/// `.damaged`, and a message names it. @throws RecordError
void take_in_spilled_rows(Database& record);

}  // namespace raddle::vm
