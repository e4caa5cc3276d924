#include "stdlib/numbers/table_lines.hpp"

#include <fmt/format.h>

namespace raddle::stdlib::native {
namespace {

/// A name as it stands in a first line.
std::string column_name(std::string_view field) {
  if (field.size() < 2 || !field.starts_with('"') || !field.ends_with('"')) return std::string(field);
  std::string name;
  for (std::size_t i = 1; i + 1 < field.size(); ++i) {
    name += field[i];
    if (field[i] == '"') ++i;  // of a quote that is doubled
  }
  return name;
}

}  // namespace

void Fields::read(std::string_view line) {
  all_.clear();
  ends_in_quote_ = false;
  std::string_view rest = form_.has_blanks_between() ? without_blanks(line) : line;
  for (;;) {
    const std::size_t at = end_of_field(rest);
    all_.push_back(without_blanks(rest.substr(0, at)));
    if (at == std::string_view::npos) return;
    rest.remove_prefix(form_.has_blanks_between() ? rest.find_first_not_of(blanks, at) : at + form_.separator.size());
  }
}

std::size_t Fields::end_of_field(std::string_view rest) {
  std::size_t from = std::min(rest.find_first_not_of(blanks), rest.size());
  if (rest.substr(from).starts_with('"')) {
    from = rest.find('"', from + 1);  // of two that stand for one each ends a part
    while (from != std::string_view::npos && rest.substr(from + 1).starts_with('"')) from = rest.find('"', from + 2);
    ends_in_quote_ = from == std::string_view::npos;
    if (ends_in_quote_) return from;
  } else {
    from = 0;
  }
  return form_.has_blanks_between() ? rest.find_first_of(blanks, from) : rest.find(form_.separator, from);
}

std::expected<TableShape, std::string> shape_of(const std::string& path, Lines& lines, const TableForm& form) {
  Fields fields(form);
  std::vector<std::string> names;
  for (bool is_header = form.has_header; is_header && !lines.are_over();) {
    const std::string_view line = lines.take();
    if (form.is_comment(line)) continue;
    is_header = false;
    fields.read(line);
    for (const std::string_view field : fields.all()) names.push_back(column_name(field));
  }
  TableShape shape;
  if (form.columns) shape.chosen.emplace();
  if (form.columns)
    for (const std::string& name : form.columns->names) {
      const auto column = column_of_name(path, name, names, "");
      if (!column) return std::unexpected(column.error());
      shape.chosen->push_back(*column);
    }
  Lines ahead = lines;
  std::string_view line;
  while (!ahead.are_over() && without_blanks(line).empty())
    if (line = ahead.take(); form.is_comment(line)) line = {};
  const bool has_numbers = !without_blanks(line).empty();
  if (has_numbers) {
    fields.read(line);
    shape.fields = fields.all().size();
    shape.first_line = line.data();
  }
  if (!form.columns) return shape;
  for (const std::int64_t number : form.columns->numbers) {
    const auto column = has_numbers ? column_of_number(path, ahead.count(), number, shape.fields) : 0;
    if (!column) return std::unexpected(column.error());
    shape.chosen->push_back(*column);
  }
  for (const std::size_t column : *shape.chosen)
    if (has_numbers && column >= shape.fields)
      return std::unexpected(fmt::format("`{}`, line {}: {} fields, the first line has {}", path, ahead.count(),
                                         shape.fields, names.size()));
  return shape;
}

std::vector<std::string_view> parts_of(std::string_view text, std::size_t count) {
  std::vector<std::string_view> parts;
  for (std::size_t left = count; left > 1 && !text.empty(); --left) {
    const std::size_t end = std::min(text.find('\n', text.size() / left), text.size() - 1) + 1;
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  parts.push_back(text);
  return parts;
}

}  // namespace raddle::stdlib::native
