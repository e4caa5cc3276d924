// Tables of numbers as text.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <type_traits>
#include <vector>

#include "stdlib/native/file_content.hpp"
#include "stdlib/native/functions.hpp"
#include "stdlib/numbers/number_types.hpp"
#include "stdlib/native/truth_of_field.hpp"
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
  TableReader(const std::string& path, std::string_view text, std::string_view separator)
      : path_(path), rest_(text), separator_(separator) {}

  void skip_line() {
    take_line();
    ++line_;
  }

  Result read() {
    while (!rest_.empty()) {
      const std::string_view line = take_line();
      ++line_;
      if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
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
    std::int64_t found = 0;
    for (std::string_view rest = line;;) {
      const std::size_t end = std::min(rest.find(separator_), rest.size());
      if (auto read = add_field(rest.substr(0, end), found + 1); !read) return read;
      ++found;
      if (end == rest.size()) break;
      rest.remove_prefix(end + separator_.size());
    }
    if (rows == 0) columns = found;
    if (found != columns)
      return fail(fmt::format("`{}`, line {}: {} fields, the lines before have {}", path_, line_, found, columns));
    ++rows;
    return {};
  }
  Result add_field(std::string_view field, std::int64_t column) {
    const std::size_t begin = std::min(field.find_first_not_of(" \t"), field.size());
    field = field.substr(begin, field.find_last_not_of(" \t") - begin + 1);
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
    return fail(fmt::format("`{}`, line {}, field {}: `{}` is {} `{}`{}", path_, line_, column, field,
                            is_beyond ? "too large for" : "no", name_of<T>, is_beyond ? "" : help_for(field)));
  }
  /// What may be meant by a field that is no number.
  std::string help_for(std::string_view field) const {
    if (field.starts_with('"')) return ": numbers stand without quotes";
    for (const char other : {';', '\t', ' '}) {
      const std::size_t at = field.find(other);
      // a text may have blanks
      if (at != std::string_view::npos && (other != ' ' || vm::float_of_text(field.substr(0, at))))
        return fmt::format(": `read_csv(f, separator=\"{}\")` reads fields with that between them",
                           other == '\t' ? "\\t" : std::string(1, other));
    }
    return line_ == 1 ? ": `read_csv(f, header=true)` passes over a first line of names" : "";
  }

  const std::string& path_;
  std::string_view rest_;
  const std::string_view separator_;
  std::int64_t line_ = 0;
};

/// A table of one dimension has one line, or one field in each line.
template <typename T>
Result read_csv(Arguments arguments, Results results) {
  const std::string& path = arguments[0].as_file().path();
  const std::int64_t rank = arguments[1].as_int();
  const std::string& separator = arguments[3].as_string();
  if (separator.empty()) return fail("the separator of a table is not empty");
  const auto text = read_file(path);
  if (!text) return fail(text.error());
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  const std::size_t begin = text->starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
  TableReader<T> table(path, std::string_view(*text).substr(begin), separator);
  if (arguments[2].as_bool()) table.skip_line();
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
