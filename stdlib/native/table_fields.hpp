#pragma once
// Tables as text, as other programs write them: what `read_csv` is told of one, and fields that mean a boolean or
// nothing.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stdlib/native/elements.hpp"
#include "stdlib/native/functions.hpp"
#include "vm/value/text.hpp"

namespace raddle::stdlib::native {

constexpr std::string_view blanks = " \t";

inline std::string_view without_blanks(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(blanks), text.size());
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

/// Which columns are read, in that order: one of the lists is empty.
struct ChosenColumns {
  std::vector<std::int64_t> numbers;  ///< from 0 on
  std::vector<std::string> names;     ///< in the first line
  std::size_t size() const { return numbers.size() + names.size(); }
};

struct TableForm {
  bool has_header = false;
  std::string_view separator;
  std::string_view comments = {};                ///< lines that begin with it are passed over; "": there are none
  std::optional<double> missing = std::nullopt;  ///< takes the place of fields in which nothing stands
  std::optional<ChosenColumns> columns = std::nullopt;  ///< none: all of them

  /// A blank stands for any number of blanks: columns are aligned by them.
  bool has_blanks_between() const { return separator == " "; }
  bool is_comment(std::string_view line) const {
    return !comments.empty() && without_blanks(line).starts_with(comments);
  }
};

/// @param arguments  header, separator, comments, missing, whether that is given; perhaps the columns
inline std::expected<TableForm, std::string> table_form(Arguments arguments) {
  TableForm form{arguments[0].as_bool(), arguments[1].as_string(), arguments[2].as_string(), std::nullopt};
  if (form.separator.empty()) return std::unexpected("the separator of a table is not empty");
  if (arguments[4].as_bool()) form.missing = arguments[3].as_float();
  if (arguments.size() == 5) return form;
  form.columns.emplace();
  for (const vm::Value& column : elements(arguments[5])) {
    if (column.kind() == vm::ValueKind::string)
      form.columns->names.push_back(column.as_string());
    else
      form.columns->numbers.push_back(column.as_int());
  }
  if (form.columns->size() == 0) return std::unexpected("`columns` chooses none of a table's columns");
  if (!form.columns->names.empty() && !form.has_header)
    return std::unexpected(
        "the names in `columns` are those in a first line, and `header=false` says that there is none");
  return form;
}

/// @param header  what stands in the first line   @param help  put behind what is said of a name that is not there
inline std::expected<std::size_t, std::string> column_of_name(const std::string& path, std::string_view name,
                                                              const std::vector<std::string>& header,
                                                              std::string_view help) {
  const auto is_it = [&](const std::string& each) { return without_blanks(each) == name; };
  const auto found = std::ranges::find_if(header, is_it);
  if (found == header.end()) {
    std::vector<std::string_view> names;
    for (const std::string& each : header) names.push_back(without_blanks(each));
    return std::unexpected(fmt::format("`{}` has no column `{}`: its first line names `{}`{}", path, name,
                                       fmt::join(names, "`, `"), help));
  }
  if (std::find_if(found + 1, header.end(), is_it) != header.end())
    return std::unexpected(fmt::format("`{}` has two columns `{}`", path, name));
  return static_cast<std::size_t>(found - header.begin());
}

/// @param line  the first one whose fields are read   @param count  how many it has
inline std::expected<std::size_t, std::string> column_of_number(const std::string& path, std::int64_t line,
                                                                std::int64_t number, std::size_t count) {
  if (number >= 0 && std::cmp_less(number, count)) return static_cast<std::size_t>(number);
  return std::unexpected(
      fmt::format("`{}`, line {}: there is no column {}, they are 0 to {}", path, line, number, count - 1));
}

/// `true`, `T`, `1`, ... in letters of any case; none: it is no boolean
inline std::optional<bool> truth_of_field(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char each) { return each >= 'A' && each <= 'Z' ? each + 32 : each; });
  if (lower == "true" || lower == "t" || lower == "1") return true;
  if (lower == "false" || lower == "f" || lower == "0") return false;
  return std::nullopt;
}

/// What other programs write where they have no number.
inline bool is_missing_field(std::string_view text) {
  constexpr std::array<std::string_view, 14> marks = {"",    "NA",  "N/A",  "n/a",  "#N/A", "na", "NaN",
                                                      "nan", "NAN", "null", "NULL", "None", "?",  "-nan"};
  return std::ranges::find(marks, text) != marks.end();
}

/// A number as an int; none: it is no int.
inline std::optional<std::int64_t> whole_number(double number) {
  if (number != std::floor(number) || std::abs(number) > 0x1p53) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

/// What is wrong with a field that is none of `type`.
inline std::string misfit_text(std::string_view field, std::string_view type) {
  return field.empty() ? fmt::format("no `{}` stands there", type) : fmt::format("`{}` is no `{}`", field, type);
}

/// How a missing number is read, to be put behind that.
/// @param missing  that is no number of the type
inline std::string help_for_missing(bool is_of_floats, std::optional<double> missing) {
  if (missing) return fmt::format(", nor is {}, which would take its place", vm::float_text(*missing));
  return is_of_floats ? ": `read_csv(f, missing=NaN)` reads fields as this one as NaN"
                      : ": `read_csv(f, missing=-1)` reads fields as this one as -1, and floats can be NaN";
}

}  // namespace raddle::stdlib::native
