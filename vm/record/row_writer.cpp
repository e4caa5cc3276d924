#include "vm/record/row_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "vm/record/record_format.hpp"

namespace raddle::vm {
namespace {

/// Inserts a row with its digest. @param columns  of the table; the parameters are theirs, in this order
std::string insert_with_digest(const char* table, const char* columns) {
  const auto count = std::count(columns, columns + std::strlen(columns), ',') + 1;
  std::string values = "?1";
  for (int i = 2; i <= count; ++i) values += fmt::format(", ?{}", i);
  return fmt::format("INSERT INTO main.{0} (digest, {1}) VALUES (digest({2}), {2})", table, columns, values);
}

template <typename Word>
std::string_view bytes_of(const std::vector<Word>& words) {
  return {reinterpret_cast<const char*>(words.data()), words.size() * sizeof(Word)};
}

}  // namespace

void RowWriter::write(const std::vector<PointRow>& rows, const std::vector<BlockRow>& blocks) {
  Transaction transaction(database_);
  for (const PointRow& row : rows) insert(row);
  for (const BlockRow& block : blocks) insert(block);
  transaction.commit();
}

void RowWriter::insert(const PointRow& row) {
  const bool is_task = row.point != 0;
  std::optional<Statement>& prepared = is_task ? insert_task_ : insert_point_;
  if (!prepared)
    prepared.emplace(database_, insert_with_digest(is_task ? "task" : "point", is_task ? task_columns : point_columns));
  Statement& insert = *prepared;
  const Attempt& attempt = row.attempt;
  int at = 0;
  const auto give = [&](const auto&... values) { (insert.bind(++at, values), ...); };
  give(run_row_);
  if (is_task) give(as_stored(row.point), std::int64_t{row.point_attempt});
  give(as_stored(row.number));
  // tasks have no key: their rows lie in its index as they come, else each commit would write a page of it for each
  if (++at; row.key == PointKey{})
    insert.bind_nothing(at);
  else
    insert.bind_bytes(at, row.key.bytes());
  give(std::int64_t{row.attempt_number}, std::int64_t{row.is_last}, static_cast<std::int64_t>(attempt.outcome));
  give(attempt.started, attempt.duration_s, std::int64_t{attempt.exit_code}, std::int64_t{attempt.signal});
  give(std::int64_t{attempt.worker}, attempt.inputs, attempt.detail, row.parameters, attempt.results);
  for (const std::string* output : {&attempt.stdout_end, &attempt.stderr_end}) insert.bind_bytes(++at, *output);
  give(as_stored(attempt.stdout_size), as_stored(attempt.stderr_size));
  insert.run();
}

void RowWriter::insert(const BlockRow& block) {
  if (!insert_block_)
    insert_block_.emplace(
        database_,
        "INSERT INTO main.block (run, first, last, count, started, duration_s, worker, numbers, keys, "
        "columns, content_digest, digest) SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, content, "
        "digest(?1, ?2, ?3, ?4, ?5, ?6, ?7, content) FROM (SELECT digest(?8, ?9, ?10) AS content)");
  Statement& insert = *insert_block_;
  std::string columns;
  for (const std::vector<std::int64_t>& column : block.columns) columns += bytes_of(column);
  insert.bind(1, run_row_)
      .bind(2, as_stored(block.first))
      .bind(3, as_stored(block.last))
      .bind(4, as_stored(block.keys.size()));
  insert.bind(5, block.started).bind(6, block.duration_s).bind(7, std::int64_t{block.worker});
  insert.bind_bytes(8, bytes_of(block.numbers)).bind_bytes(9, bytes_of(block.keys)).bind_bytes(10, columns).run();
}

}  // namespace raddle::vm
