#pragma once
// Rows of points to which a damaged index does not lead: what is asked for by its key is not found, though it is there.
#include <cstdint>
#include <map>
#include <string>

#include "vm/record/database.hpp"
#include "vm/record/point_key.hpp"

namespace raddle::vm {

class LostPoints {
 public:
  /// Looks each row up by the index: for when there is a reason to. @throws RecordError
  explicit LostPoints(Database& database);
  static constexpr std::int64_t none = 0;  ///< no row has this number
  /// The latest one.
  std::int64_t row_of(const PointKey& key) const;

 private:
  std::map<std::string, std::int64_t> rows_;  // by PointKey::bytes()
};

/// Whether there were any, since the process began. Any thread.
bool has_met_damaged_index();

}  // namespace raddle::vm
