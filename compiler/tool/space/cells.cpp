#include "compiler/tool/space/cells.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/tool/formats/json_text.hpp"
#include "compiler/tool/formats/scan.hpp"
#include "compiler/tool/space/values.hpp"

namespace raddle::sweep {

CellType type_of_cell(std::string_view cell) {
  if (cell == "true" || cell == "false") return CellType::boolean;
  const std::string_view digits = cell.substr(cell.starts_with('-') ? 1 : 0);
  if (is_not_finite(cell) || cell == "-0") return CellType::float_;
  const bool is_padded =
      digits.size() > 1 && digits[0] == '0' && digits[1] != '.' && digits[1] != 'e' && digits[1] != 'E';
  if (is_padded || cell.starts_with('+')) return CellType::string;
  switch (type_of(cell)) {
    case ValueType::int_: return CellType::int_;
    case ValueType::string: return CellType::string;
    case ValueType::float_: break;
  }
  const bool is_whole = digits.find_first_not_of("0123456789") == std::string_view::npos;  // beyond the ints
  return is_whole ? CellType::string : CellType::float_;
}

CellType common_type(CellType one, CellType other) {
  if (one == other) return one;
  return std::max(one, other) == CellType::float_ ? CellType::float_ : CellType::string;
}

void append_json(std::string& text, std::string_view cell, CellType type) {
  const auto append_number = [&](const auto& number) {
    const std::string json = json_value(cell);
    text += json.starts_with('"') ? fmt::format("{}", number) : json;  // .5 and +1 are numbers, but none of JSON's
  };
  switch (type) {
    case CellType::int_: return append_number(read_int(cell));
    case CellType::boolean: text += cell; return;
    case CellType::string: text += json_string(cell); return;
    case CellType::float_: break;
  }
  if (const std::optional<double> number = read_number(cell))
    append_number(*number);
  else
    text += is_not_finite(cell) ? "null" : json_string(cell);
}

}  // namespace raddle::sweep
