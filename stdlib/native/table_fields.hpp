#pragma once
// Tables as text, as other programs write them: what `read_csv` is told of one, and fields that mean a boolean or
// nothing.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "stdlib/native/functions.hpp"
#include "vm/value/text.hpp"

namespace raddle::stdlib::native {

constexpr std::string_view blanks = " \t";

inline std::string_view without_blanks(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(blanks), text.size());
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

struct TableForm {
  bool has_header = false;
  std::string_view separator;
  std::string_view comments;      ///< lines that begin with it are passed over; "": there are none
  std::optional<double> missing;  ///< takes the place of fields in which nothing stands

  /// A blank stands for any number of blanks: columns are aligned by them.
  bool has_blanks_between() const { return separator == " "; }
  bool is_comment(std::string_view line) const {
    return !comments.empty() && without_blanks(line).starts_with(comments);
  }
};

/// @param arguments  the last five: header, separator, comments, missing, whether that is given
inline std::expected<TableForm, std::string> table_form(Arguments arguments) {
  const auto last = arguments.last(5);
  TableForm form{last[0].as_bool(), last[1].as_string(), last[2].as_string(), std::nullopt};
  if (form.separator.empty()) return std::unexpected("the separator of a table is not empty");
  if (last[4].as_bool()) form.missing = last[3].as_float();
  return form;
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
