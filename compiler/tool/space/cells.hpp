#pragma once
// What the cells of a table's column are, for the forms of tables that have types.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace raddle::sweep {

/// What is not there is a view of nothing; an empty string is a value like others.
inline bool is_missing(std::string_view cell) { return cell.data() == nullptr; }

enum class CellType : std::uint8_t { int_, float_, boolean, string };

/// What a text is where nothing says so: a number only if it can be written as that number and nothing is lost. 007, +1
/// and 1e400 are strings.
/// @pre not empty
CellType type_of_cell(std::string_view cell);
/// What cells of both types are together.
CellType common_type(CellType one, CellType other);

/// The type of a column whose cells come one after the other; what is not there has none.
class ColumnType {
 public:
  void add(CellType type) { type_ = type_ ? common_type(*type_, type) : type; }
  /// string where there is no value
  CellType type() const { return type_.value_or(CellType::string); }

 private:
  std::optional<CellType> type_;
};

/// As JSON: null is what JSON has no number for.   @pre it is there
void append_json(std::string& text, std::string_view cell, CellType type);

}  // namespace raddle::sweep
