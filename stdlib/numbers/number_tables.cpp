// Tables of numbers as text.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <future>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "stdlib/native/file_content.hpp"
#include "stdlib/native/functions.hpp"
#include "stdlib/numbers/number_types.hpp"
#include "stdlib/numbers/table_lines.hpp"
#include "vm/value/array.hpp"
#include "vm/value/file.hpp"
#include "vm/value/text.hpp"

namespace raddle::stdlib::native {
namespace {

using vm::Value;

/// Where in a part something is wrong, and what: "`x` is no `float`".
struct TableFault {
  std::int64_t line;
  std::string text;
};

/// The numbers of some lines of a table, which one thread reads. On cache lines of its own, as it is written for each
/// number.
template <typename T>
class alignas(64) PartReader {
 public:
  PartReader(std::string_view text, const TableForm& form, const TableShape& shape)
      : lines_(text), form_(form), shape_(shape), is_first_(text.data() <= shape.first_line), fields_(form) {}

  void read() {
    while (!lines_.are_over() && !fault_) {
      const std::string_view line = lines_.take();
      if (form_.is_comment(line) || without_blanks(line).empty()) continue;
      if (auto read = add(line); !read) fault_ = {lines_.count(), read.error()};
    }
  }
  const std::vector<ElementOf<T>>& numbers() const { return numbers_; }
  std::vector<ElementOf<T>> take_numbers() { return std::exchange(numbers_, {}); }
  const std::optional<TableFault>& fault() const { return fault_; }  ///< reading ended there
  std::int64_t rows() const { return rows_; }
  std::int64_t lines() const { return lines_.count(); }

 private:
  Result add(std::string_view line) {
    fields_.read(line);
    const std::size_t found = fields_.all().size();
    if (shape_.chosen && found == shape_.fields) {
      for (const std::size_t column : *shape_.chosen)
        if (auto read = add_field(column); !read) return read;
    } else if (!shape_.chosen) {
      for (std::size_t column = 0; column < found; ++column)
        if (auto read = add_field(column); !read) return read;
    }
    if (fields_.ends_in_quote())
      return fail(fmt::format(
          ", field {}: no quote ends it in this line; an array of structures takes records of several", found));
    if (found != shape_.fields) return fail(fmt::format(": {} fields, the lines before have {}", found, shape_.fields));
    ++rows_;
    return {};
  }
  Result add_field(std::size_t column) {
    const std::string_view field = fields_.all()[column];
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
        numbers_.push_back(*number);
        return {};
      }
      is_beyond = vm::is_beyond_floats(field) || vm::float_of_text(field).has_value();
    } else if constexpr (std::is_same_v<T, bool>) {
      if (const auto truth = truth_of_field(field)) {
        numbers_.push_back(*truth);
        return {};
      }
    } else {
      T number = 0;
      const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), number);
      if (error == std::errc() && end == field.data() + field.size() && !field.empty()) {
        numbers_.push_back(number);
        return {};
      }
      is_beyond = error == std::errc::result_out_of_range && end == field.data() + field.size();
    }
    return field_fault(column, is_beyond ? fmt::format("`{}` is too large for `{}`", field, name_of<T>)
                                         : misfit_text(field, name_of<T>) + help_for(field));
  }
  Result add_missing(std::string_view field, std::size_t column) {
    if constexpr (std::is_floating_point_v<T>) {
      numbers_.push_back(static_cast<T>(*form_.missing));
    } else if constexpr (!std::is_same_v<T, bool>) {
      const auto number = whole_number(*form_.missing);
      if (!number || !std::in_range<T>(*number))
        return field_fault(column, misfit_text(field, name_of<T>) + help_for_missing(false, form_.missing));
      numbers_.push_back(static_cast<T>(*number));
    }
    return {};
  }
  static Result field_fault(std::size_t column, const std::string& text) {
    return fail(fmt::format(", field {}: {}", column + 1, text));
  }
  /// What may be meant by a field that is no number.
  std::string help_for(std::string_view field) const {
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
        is_first_ && rows_ == 0 && !form_.has_header && std::ranges::none_of(fields_.all(), [](std::string_view each) {
          return is_missing_field(each) || vm::float_of_text(each) || (std::is_same_v<T, bool> && truth_of_field(each));
        });
    return are_names ? ": `read_csv(f, header=true)` passes over a first line of names" : "";
  }

  Lines lines_;
  const TableForm& form_;
  const TableShape& shape_;
  const bool is_first_;  ///< no line with fields stands before the text
  Fields fields_;
  std::vector<ElementOf<T>> numbers_;
  std::optional<TableFault> fault_;
  std::int64_t rows_ = 0;
};

/// Threads that read parts beside the workers that called, those of all calls together: fewer than there are workers,
/// so that many files at once do not start as many threads each. Only a count: nothing is published by it.
std::atomic<std::size_t> helping_threads{0};

class HelpingThreads {
 public:
  /// @param most  of all calls together
  HelpingThreads(std::size_t wanted, std::size_t most) {
    std::size_t others = helping_threads.load(std::memory_order_relaxed);
    do count_ = others < most ? std::min(wanted, most - others) : 0;
    while (!helping_threads.compare_exchange_weak(others, others + count_, std::memory_order_relaxed));
  }
  HelpingThreads(const HelpingThreads&) = delete;
  HelpingThreads& operator=(const HelpingThreads&) = delete;
  ~HelpingThreads() { helping_threads.fetch_sub(count_, std::memory_order_relaxed); }
  std::size_t count() const { return count_; }

 private:
  std::size_t count_;
};

constexpr std::size_t least_part_bytes = std::size_t{1} << 20;  ///< takes far longer to read than a thread to start

/// Each part is read up to what is wrong in it, so the first that is told is the first in the file.
template <typename T>
std::vector<PartReader<T>> read_parts(std::string_view text, const TableForm& form, const TableShape& shape,
                                      std::size_t workers) {
  const HelpingThreads helping(text.size() / least_part_bytes, workers - 1);
  std::vector<PartReader<T>> parts;
  for (const std::string_view part : parts_of(text, helping.count() + 1)) parts.emplace_back(part, form, shape);
  std::vector<std::future<void>> ends;
  for (std::size_t i = 1; i < parts.size(); ++i)  // deferred: read here, if the system has no thread
    ends.push_back(std::async(std::launch::async | std::launch::deferred, [&part = parts[i]] { part.read(); }));
  parts[0].read();
  for (std::future<void>& end : ends) end.get();
  return parts;
}

template <typename T>
Value joined(std::vector<PartReader<T>>& parts) {
  std::size_t count = 0;
  for (const PartReader<T>& part : parts) count += part.numbers().size();
  vm::Buffer::Owner packed = vm::Buffer::make(kind_of<T>, count);
  auto* to = static_cast<ElementOf<T>*>(packed->at_index(0));
  for (PartReader<T>& part : parts) to = std::ranges::copy(part.take_numbers(), to).out;
  return Value::of_object(vm::ValueKind::array, vm::Array::packed_of(std::move(packed)));
}

/// A table of one dimension has one line, or one field in each line.
template <typename T>
Result read_csv(Call call, Arguments arguments, Results results) {
  const std::string& path = arguments[0].as_file().path();
  const std::int64_t rank = arguments[1].as_int();
  const auto form = table_form(arguments.subspan(2));
  if (!form) return fail(form.error());
  const auto text = read_file(path);
  if (!text) return fail(text.error());
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  const std::size_t begin = text->starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
  Lines lines(std::string_view(*text).substr(begin));
  const auto shape = shape_of(path, lines, *form);
  if (!shape) return fail(shape.error());
  std::vector<PartReader<T>> parts = read_parts<T>(lines.rest(), *form, *shape, call.settings.workers);
  std::int64_t line = lines.count(), rows = 0;
  for (const PartReader<T>& part : parts) {
    if (part.fault()) return fail(fmt::format("`{}`, line {}{}", path, line + part.fault()->line, part.fault()->text));
    line += part.lines();
    rows += part.rows();
  }
  const auto columns = static_cast<std::int64_t>(shape->columns());
  const bool is_line = rows <= 1 || columns == 1;
  if (rank > 2 || (rank == 1 && !is_line))
    return fail(fmt::format("`{}` holds {} lines of {} {}, a `{}` is wanted", path, rows, columns,
                            form->columns ? "chosen columns" : "fields", array_type_text<T>(rank)));
  std::vector<std::int64_t> extents = {rows, columns};
  if (rank == 1) extents = {rows * columns};
  results[0] = joined(parts);
  results[1] = Value::of_object(vm::ValueKind::array, vm::Array::packed_of(std::move(extents)));
  return {};
}

}  // namespace

Result read_csv_float(Call call, Arguments arguments, Results results) {
  return read_csv<double>(call, arguments, results);
}
Result read_csv_int(Call call, Arguments arguments, Results results) {
  return read_csv<std::int64_t>(call, arguments, results);
}
Result read_csv_boolean(Call call, Arguments arguments, Results results) {
  return read_csv<bool>(call, arguments, results);
}

Result read_csv_float32(Call call, Arguments arguments, Results results) {
  return read_csv<float>(call, arguments, results);
}
Result read_csv_int32(Call call, Arguments arguments, Results results) {
  return read_csv<std::int32_t>(call, arguments, results);
}

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
