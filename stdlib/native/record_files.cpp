// Tables whose columns have names and types of their own, as text: arrays of structures, and structures of arrays.
// Fields with separators, quotes or ends of lines in them stand in quotes, and a quote in them is doubled (RFC 4180).
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "stdlib/native/file_content.hpp"
#include "stdlib/native/functions.hpp"
#include "stdlib/native/table_fields.hpp"
#include "vm/value/array.hpp"
#include "vm/value/dense.hpp"
#include "vm/value/file.hpp"
#include "vm/value/text.hpp"

namespace raddle::stdlib::native {
namespace {

using vm::Value;
using vm::ValueKind;

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// ---------------------------------------------------------------- reading

/// The records of a text, one after the other. A record may go over several lines.
class RecordReader {
 public:
  RecordReader(const std::string& path, std::string_view text, const TableForm& form)
      : path_(path), rest_(text), form_(form) {}

  /// Of the record that was read last, where it begins.
  std::int64_t line() const { return line_; }
  const std::vector<std::string>& fields() const { return fields_; }

  /// Passes over empty lines and comments. @return false: there are no more
  std::expected<bool, std::string> next() {
    do {
      while (form_.is_comment(rest_.substr(0, rest_.find('\n')))) end_line(std::min(rest_.find('\n'), rest_.size()));
      if (rest_.empty()) return false;
      line_ = next_line_;
      fields_.clear();
      is_quoted_ = false;
      bool has_more = true;
      while (has_more) {
        auto read = field();
        if (!read) return std::unexpected(read.error());
        has_more = *read;
      }
    } while (fields_.size() == 1 && !is_quoted_ && without_blanks(fields_[0]).empty());
    return true;
  }

 private:
  /// @return another one follows in the record
  std::expected<bool, std::string> field() {
    if (form_.has_blanks_between()) pass_blanks();
    if (rest_.starts_with('"')) return quoted_field();
    const std::size_t line_end = std::min(rest_.find('\n'), rest_.size());
    const std::string_view line = rest_.substr(0, line_end);
    const std::size_t end = form_.has_blanks_between() ? line.find_first_of(blanks) : line.find(form_.separator);
    if (end != std::string_view::npos) {
      fields_.emplace_back(rest_.substr(0, end));
      rest_.remove_prefix(end);
      if (pass_separator()) return true;
      end_line(rest_.find('\n') == std::string_view::npos ? rest_.size() : rest_.find('\n'));
      return false;
    }
    std::string_view last = rest_.substr(0, line_end);
    if (last.ends_with('\r')) last.remove_suffix(1);
    fields_.emplace_back(last);
    end_line(line_end);
    return false;
  }

  std::expected<bool, std::string> quoted_field() {
    is_quoted_ = true;
    std::string text;
    std::size_t at = 1;
    for (;; ++at) {
      const std::size_t quote = rest_.find('"', at);
      if (quote == std::string_view::npos)
        return std::unexpected(
            fmt::format("`{}`, line {}, field {}: no quote ends it", path_, line_, fields_.size() + 1));
      text += rest_.substr(at, quote - at);
      at = quote + 1;
      if (!rest_.substr(at).starts_with('"')) break;
      text += '"';
    }
    next_line_ += std::ranges::count(rest_.substr(0, at), '\n');
    rest_.remove_prefix(at);
    fields_.push_back(std::move(text));
    if (pass_separator()) return true;
    const std::size_t line_end = std::min(rest_.find('\n'), rest_.size());
    const std::string_view behind = rest_.substr(0, line_end);
    if (!behind.empty() && behind != "\r")
      return std::unexpected(fmt::format(
          "`{}`, line {}, field {}: `{}` stands behind the quote that ends it; a quote in a field is doubled", path_,
          next_line_, fields_.size(), behind.substr(0, 20)));
    end_line(line_end);
    return false;
  }

  void pass_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(blanks), rest_.size())); }

  /// @return false: none stands here, or, of blanks, nothing but the end of the line behind them
  bool pass_separator() {
    if (!form_.has_blanks_between()) {
      if (!rest_.starts_with(form_.separator)) return false;
      rest_.remove_prefix(form_.separator.size());
      return true;
    }
    const std::size_t before = rest_.size();
    pass_blanks();
    return rest_.size() != before && !rest_.empty() && rest_[0] != '\n' && !rest_.starts_with("\r\n");
  }

  void end_line(std::size_t line_end) {
    rest_.remove_prefix(std::min(line_end + 1, rest_.size()));
    ++next_line_;
  }

  const std::string& path_;
  std::string_view rest_;
  const TableForm& form_;
  std::vector<std::string> fields_;
  bool is_quoted_ = false;
  std::int64_t line_ = 0, next_line_ = 1;
};

/// What the structure of a record wants.
struct Column {
  std::string name;
  char kind;  ///< s, f, i or b
  std::size_t place = 0;
  std::vector<Value> values = {};
};

/// none: it is no value of the type
std::optional<Value> value_of(const std::string& field, char kind, std::optional<double> missing) {
  const std::string_view text = without_blanks(field);
  if (kind == 's') return Value::of(field);
  if (missing && kind != 'b' && is_missing_field(text)) {
    if (kind == 'f') return Value::of(*missing);
    const auto number = whole_number(*missing);
    return number ? std::optional(Value::of(*number)) : std::nullopt;
  }
  if (kind == 'f') {
    const auto number = vm::float_of_text(text);
    return number ? std::optional(Value::of(*number)) : std::nullopt;
  }
  if (kind == 'b') {
    const auto truth = truth_of_field(text);
    return truth ? std::optional(Value::of(std::int64_t{*truth})) : std::nullopt;
  }
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = error == std::errc() && end == text.data() + text.size() && !text.empty();
  return is_whole ? std::optional(Value::of(number)) : std::nullopt;
}

std::string_view name_of_kind(char kind) { return kind == 'f' ? "float" : kind == 'i' ? "int" : "boolean"; }

/// Finds the columns by the names in the first record: those of the fields, or what `columns` has in their places.
Result place_by_name(const std::string& path, const std::vector<std::string>& header, const TableForm& form,
                     std::vector<Column>& columns) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto place =
        form.columns ? column_of_name(path, form.columns->names[i], header, "")
                     : column_of_name(path, columns[i].name, header, "; `header=false` takes the fields in order");
    if (!place) return fail(place.error());
    columns[i].place = *place;
  }
  return {};
}

/// @param line  of the first record, which has `count` fields
Result place_by_number(const std::string& path, std::int64_t line, std::size_t count,
                       const std::vector<std::int64_t>& numbers, std::vector<Column>& columns) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto place = column_of_number(path, line, numbers[i], count);
    if (!place) return fail(place.error());
    columns[i].place = *place;
  }
  return {};
}

Result add_record(const std::string& path, const RecordReader& reader, std::optional<double> missing,
                  std::vector<Column>& columns) {
  for (Column& column : columns) {
    const std::string& field = reader.fields()[column.place];
    std::optional<Value> value = value_of(field, column.kind, missing);
    if (!value) {
      const std::string_view text = without_blanks(field);
      const bool is_missing = column.kind != 'b' && is_missing_field(text);
      return fail(fmt::format("`{}`, line {}, column `{}`: {}{}", path, reader.line(), column.name,
                              misfit_text(text, name_of_kind(column.kind)),
                              is_missing ? help_for_missing(column.kind == 'f', missing) : ""));
    }
    column.values.push_back(std::move(*value));
  }
  return {};
}

// ---------------------------------------------------------------- writing

std::string field_text(const Value& value, std::string_view separator) {
  std::string text = vm::result_text(value);
  const bool is_plain = !text.empty() && text.find(separator) == std::string::npos &&
                        text.find_first_of("\"\r\n") == std::string::npos && without_blanks(text).size() == text.size();
  if (is_plain || value.kind() != ValueKind::string) return text;
  std::string quoted = "\"";
  for (const char each : text) quoted += each == '"' ? std::string("\"\"") : std::string(1, each);
  return quoted + '"';
}

void add_line(std::string& text, const std::vector<Value>& fields, std::string_view separator) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) text += separator;
    text += field_text(fields[i], separator);
  }
  text += '\n';
}

/// Of a dense array, too: its first part holds them.
std::vector<Value> elements_of(const Value& array) {
  if (array.kind() == ValueKind::structure) return elements_of(array.as_structure().field(0).get());
  std::vector<Value> all;
  array.as_array().for_each([&](const Value&, const Value& each) { all.push_back(each); });
  return all;
}

std::vector<Value> names_in(const vm::Structure& structure) {
  std::vector<Value> names;
  for (std::size_t i = 0; i < structure.field_count(); ++i) names.push_back(Value::of(structure.field_name(i)));
  return names;
}
std::vector<Value> fields_in(vm::Structure& structure) {
  std::vector<Value> fields;
  for (std::size_t i = 0; i < structure.field_count(); ++i) fields.push_back(structure.field(i).get());
  return fields;
}

Result add_columns(std::string& text, vm::Structure& table, std::string_view separator) {
  std::vector<std::vector<Value>> columns;
  for (const Value& column : fields_in(table)) columns.push_back(elements_of(column));
  for (std::size_t i = 1; i < columns.size(); ++i)
    if (columns[i].size() != columns[0].size())
      return fail(fmt::format("the columns of a table are equally long: `{}` has {} elements, `{}` has {}",
                              table.field_name(0), columns[0].size(), table.field_name(i), columns[i].size()));
  add_line(text, names_in(table), separator);
  for (std::size_t row = 0; row < columns[0].size(); ++row) {
    std::vector<Value> fields;
    for (const std::vector<Value>& column : columns) fields.push_back(column[row]);
    add_line(text, fields, separator);
  }
  return {};
}

}  // namespace

/// The values of all columns of one type stand in one array, column after column. The ints begin with the number of
/// rows, and end with the booleans.
Result read_records(Call, Arguments arguments, Results results) {
  const std::string& path = arguments[0].as_file().path();
  const std::vector<std::string> names = lines_of(arguments[1].as_string());
  const auto form = table_form(arguments.subspan(3));
  if (!form) return fail(form.error());
  std::vector<Column> columns;
  for (std::size_t i = 0; i < names.size(); ++i)
    columns.push_back({.name = names[i], .kind = arguments[2].as_string()[i], .place = i});
  if (form->columns && form->columns->size() != columns.size())
    return fail(fmt::format("`columns` chooses {}, the structure has {} field{}", form->columns->size(), columns.size(),
                            columns.size() == 1 ? "" : "s"));
  const bool has_numbers = form->columns && form->columns->names.empty();
  const auto text = read_file(path);
  if (!text) return fail(text.error());
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  const std::size_t begin = text->starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
  RecordReader reader(path, std::string_view(*text).substr(begin), *form);
  std::optional<std::size_t> width;
  std::int64_t count = 0;
  for (auto read = reader.next();; read = reader.next()) {
    if (!read) return fail(read.error());
    if (!*read) break;
    const std::size_t found = reader.fields().size();
    if (!width && !form->has_header && !has_numbers && found != columns.size())
      return fail(fmt::format(
          "`{}`, line {}: {} fields, the structure has {}; those of a first line of names are found by them", path,
          reader.line(), found, columns.size()));
    if (width && found != *width)
      return fail(
          fmt::format("`{}`, line {}: {} fields, the lines before have {}", path, reader.line(), found, *width));
    const bool is_header = !width && form->has_header;
    if (!width && has_numbers)
      if (auto placed = place_by_number(path, reader.line(), found, form->columns->numbers, columns); !placed)
        return placed;
    width = found;
    count += is_header ? 0 : 1;
    if (is_header && has_numbers) continue;
    if (auto good = is_header ? place_by_name(path, reader.fields(), *form, columns)
                              : add_record(path, reader, form->missing, columns);
        !good)
      return good;
  }
  std::array<std::vector<Value>, 3> all = {{{}, {}, {Value::of(count)}}};
  for (const char kind : std::string_view("sfib")) {
    std::vector<Value>& to = all[kind == 's' ? 0 : kind == 'f' ? 1 : 2];
    for (Column& column : columns)
      if (column.kind == kind) std::ranges::move(column.values, std::back_inserter(to));
  }
  for (std::size_t i = 0; i < all.size(); ++i)
    results[i] = Value::of_object(ValueKind::array, vm::Array::dense(std::move(all[i])));
  return {};
}

Result write_records(Call, Arguments arguments, Results) {
  const Value& table = arguments[1];
  const std::string& separator = arguments[2].as_string();
  if (separator.empty()) return fail("the separator of a table is not empty");
  std::string text;
  if (table.kind() == ValueKind::structure) {
    if (auto added = add_columns(text, table.as_structure(), separator); !added) return added;
    return write_file(arguments[0].as_file(), text);
  }
  for (const Value& row : elements_of(table)) {
    if (row.kind() == ValueKind::structure) {
      if (text.empty()) add_line(text, names_in(row.as_structure()), separator);
      add_line(text, fields_in(row.as_structure()), separator);
    } else {
      add_line(text, row.kind() == ValueKind::array ? elements_of(row) : std::vector<Value>{row}, separator);
    }
  }
  return write_file(arguments[0].as_file(), text);
}

}  // namespace raddle::stdlib::native
