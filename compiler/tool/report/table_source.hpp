#pragma once
// The table that a report is made of: read row by row, as often as it is needed, never kept whole.
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace raddle::report {

enum class Role : std::uint8_t { parameter, result, outcome, duration, reason };

struct TableColumn {
  std::string name;
  Role role = Role::parameter;
};

struct TableSource {
  using Visit = std::function<bool(std::span<const std::string_view> cells)>;
  std::vector<TableColumn> columns;  ///< parameters, results, one outcome, one duration, one reason (of a failure)
  /// Calls it with each row, cells as they stand in CSV, sweep::is_missing() where there is nothing, until it returns
  /// false.
  std::function<void(const Visit& visit)> for_each;
};

}  // namespace raddle::report
