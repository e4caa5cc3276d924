// Tables of numbers as text.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "stdlib/native/file_content.hpp"
#include "stdlib/native/functions.hpp"
#include "stdlib/numbers/number_types.hpp"
#include "stdlib/native/table_fields.hpp"
#include "vm/value/array.hpp"
#include "vm/value/file.hpp"
#include "vm/value/text.hpp"

namespace raddle::stdlib::native {
namespace {

using vm::Value;

template <typename T>
Value array_of(const std::vector<ElementOf<T>>& numbers) {
  vm::Buffer::Owner packed = vm::Buffer::make(kind_of<T>, numbers.size());
  std::ranges::copy(numbers, static_cast<ElementOf<T>*>(packed->at_index(0)));
  return Value::of_object(vm::ValueKind::array, vm::Array::packed_of(std::move(packed)));
}

/// The fields of a table's lines.
template <typename T>
class TableReader {
 public:
  TableReader(const std::string& path, std::string_view text, const TableForm& form)
      : path_(path), rest_(text), form_(form) {}

  Result read() {
    for (bool is_header = form_.has_header; !rest_.empty();) {
      const std::string_view line = take_line();
      ++line_;
      if (form_.is_comment(line)) continue;
      if (std::exchange(is_header, false) || without_blanks(line).empty()) continue;
      if (auto read = add(line); !read) return read;
    }
    return {};
  }
  std::vector<ElementOf<T>> numbers;
  std::int64_t rows = 0, columns = 0;

 private:
  std::string_view take_line() {
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
  }
  Result add(std::string_view line) {
    const std::vector<std::string_view> fields = fields_of(line);
    const auto found = static_cast<std::int64_t>(fields.size());
    for (std::int64_t i = 0; i < found; ++i)
      if (auto read = add_field(fields[static_cast<std::size_t>(i)], i + 1, fields); !read) return read;
    if (rows == 0) columns = found;
    if (found != columns)
      return fail(fmt::format("`{}`, line {}: {} fields, the lines before have {}", path_, line_, found, columns));
    ++rows;
    return {};
  }
  /// Without the blanks around them.
  std::vector<std::string_view> fields_of(std::string_view line) const {
    std::vector<std::string_view> fields;
    std::string_view rest = form_.has_blanks_between() ? without_blanks(line) : line;
    for (;;) {
      const std::size_t at = form_.has_blanks_between() ? rest.find_first_of(blanks) : rest.find(form_.separator);
      fields.push_back(without_blanks(rest.substr(0, at)));
      if (at == std::string_view::npos) return fields;
      rest.remove_prefix(form_.has_blanks_between() ? rest.find_first_not_of(blanks, at) : at + form_.separator.size());
    }
  }
  /// @param fields  of the line, of which it is one
  Result add_field(std::string_view field, std::int64_t column, const std::vector<std::string_view>& fields) {
    if (!std::is_same_v<T, bool> && form_.missing && is_missing_field(field)) return add_missing(field, column);
    bool is_beyond = false;
    if constexpr (std::is_floating_point_v<T>) {
      const std::optional<T> number = [&] {
        if constexpr (std::is_same_v<T, double>)
          return vm::float_of_text(field);
        else
          return vm::float32_of_text(field);
      }();
      if (number) {
        numbers.push_back(*number);
        return {};
      }
      is_beyond = vm::is_beyond_floats(field) || vm::float_of_text(field).has_value();
    } else if constexpr (std::is_same_v<T, bool>) {
      if (const auto truth = truth_of_field(field)) {
        numbers.push_back(*truth);
        return {};
      }
    } else {
      T number = 0;
      const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), number);
      if (error == std::errc() && end == field.data() + field.size() && !field.empty()) {
        numbers.push_back(number);
        return {};
      }
      is_beyond = error == std::errc::result_out_of_range && end == field.data() + field.size();
    }
    const std::string fault = is_beyond ? fmt::format("`{}` is too large for `{}`", field, name_of<T>)
                                        : misfit_text(field, name_of<T>) + help_for(field, fields);
    return fail(fmt::format("`{}`, line {}, field {}: {}", path_, line_, column, fault));
  }
  Result add_missing(std::string_view field, std::int64_t column) {
    if constexpr (std::is_floating_point_v<T>) {
      numbers.push_back(static_cast<T>(*form_.missing));
    } else if constexpr (!std::is_same_v<T, bool>) {
      const auto number = whole_number(*form_.missing);
      if (!number || !std::in_range<T>(*number))
        return fail(fmt::format("`{}`, line {}, field {}: {}{}", path_, line_, column, misfit_text(field, name_of<T>),
                                help_for_missing(false, form_.missing)));
      numbers.push_back(static_cast<T>(*number));
    }
    return {};
  }
  /// What may be meant by a field that is no number.
  std::string help_for(std::string_view field, const std::vector<std::string_view>& fields) const {
    if (!std::is_same_v<T, bool> && is_missing_field(field)) return help_for_missing(std::is_floating_point_v<T>, {});
    if (field.starts_with('"')) return ": numbers stand without quotes";
    for (const char other : {';', '\t', ' '}) {
      const std::size_t at = field.find(other);
      // a text may have blanks
      if (at != std::string_view::npos && (other != ' ' || vm::float_of_text(field.substr(0, at))))
        return fmt::format(": `read_csv(f, separator=\"{}\")` reads fields with that between them",
                           other == '\t' ? "\\t" : std::string(1, other));
    }
    const bool are_names =
        rows == 0 && !form_.has_header && std::ranges::none_of(fields, [](std::string_view each) {
          return is_missing_field(each) || vm::float_of_text(each) || (std::is_same_v<T, bool> && truth_of_field(each));
        });
    return are_names ? ": `read_csv(f, header=true)` passes over a first line of names" : "";
  }

  const std::string& path_;
  std::string_view rest_;
  const TableForm& form_;
  std::int64_t line_ = 0;
};

/// A table of one dimension has one line, or one field in each line.
template <typename T>
Result read_csv(Arguments arguments, Results results) {
  const std::string& path = arguments[0].as_file().path();
  const std::int64_t rank = arguments[1].as_int();
  const auto form = table_form(arguments);
  if (!form) return fail(form.error());
  const auto text = read_file(path);
  if (!text) return fail(text.error());
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  const std::size_t begin = text->starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
  TableReader<T> table(path, std::string_view(*text).substr(begin), *form);
  if (auto read = table.read(); !read) return read;
  const bool is_line = table.rows <= 1 || table.columns == 1;
  if (rank > 2 || (rank == 1 && !is_line))
    return fail(fmt::format("`{}` holds {} lines of {} fields, a `{}` is wanted", path, table.rows, table.columns,
                            array_type_text<T>(rank)));
  std::vector<std::int64_t> extents = {table.rows, table.columns};
  if (rank == 1) extents = {static_cast<std::int64_t>(table.numbers.size())};
  results[0] = array_of<T>(table.numbers);
  results[1] = array_of<std::int64_t>(extents);
  return {};
}

}  // namespace

Result read_csv_float(Call, Arguments arguments, Results results) { return read_csv<double>(arguments, results); }
Result read_csv_int(Call, Arguments arguments, Results results) { return read_csv<std::int64_t>(arguments, results); }
Result read_csv_boolean(Call, Arguments arguments, Results results) { return read_csv<bool>(arguments, results); }

Result read_csv_float32(Call, Arguments arguments, Results results) { return read_csv<float>(arguments, results); }
Result read_csv_int32(Call, Arguments arguments, Results results) { return read_csv<std::int32_t>(arguments, results); }

Result write_csv(Call, Arguments arguments, Results) {
  const std::vector<std::int64_t> extents = extents_of(arguments[2]);
  const std::string& separator = arguments[3].as_string();
  const std::int64_t columns = extents.size() > 1 ? extents[1] : 1;
  std::string text;
  std::int64_t column = 0;
  arguments[1].as_array().for_each([&](const Value&, const Value& each) {
    text += vm::result_text(each);
    column = (column + 1) % columns;
    text += column == 0 ? "\n" : separator;
  });
  return write_file(arguments[0].as_file(), text);
}

}  // namespace raddle::stdlib::native
