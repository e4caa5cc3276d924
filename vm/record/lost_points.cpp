#include "vm/record/lost_points.hpp"

#include <atomic>

namespace raddle::vm {
namespace {

std::atomic<bool> is_index_damaged{false};  // relaxed: it says nothing of anything else

// `+`: by the index of keys, not by the number of the row. Points without a key, as programs that a script starts, are
// asked for by nobody.
constexpr const char* lost_rows =
    "SELECT key, rowid FROM main.point AS each WHERE key IS NOT NULL AND NOT EXISTS (SELECT 1 FROM main.point AS found "
    "WHERE found.key = each.key AND +found.rowid = each.rowid) ORDER BY each.rowid";

}  // namespace

LostPoints::LostPoints(Database& database) {
  Statement rows(database, lost_rows);
  while (rows.step()) rows_[rows.text(0)] = rows.integer(1);
  if (!rows_.empty()) is_index_damaged.store(true, std::memory_order_relaxed);
}

std::int64_t LostPoints::row_of(const PointKey& key) const {
  const auto found = rows_.find(std::string(key.bytes()));
  return found == rows_.end() ? none : found->second;
}

bool has_met_damaged_index() { return is_index_damaged.load(std::memory_order_relaxed); }

}  // namespace raddle::vm
