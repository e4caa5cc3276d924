// Strings: find, cut, replace, split, join, change case. Positions count characters.
#include <fmt/format.h>
#include <wctype.h>

#include <algorithm>
#include <clocale>

#include "stdlib/native/elements.hpp"
#include "stdlib/native/format.hpp"
#include "stdlib/native/functions.hpp"
#include "stdlib/native/parse_number.hpp"
#include "stdlib/native/utf8.hpp"
#include "vm/value/text.hpp"

namespace raddle::stdlib::native {
namespace {

using vm::Value;

// A negative position is the start.
std::size_t position(const Value& value) { return static_cast<std::size_t>(std::max<std::int64_t>(value.as_int(), 0)); }

// Byte position just behind where a match may end: that of character `end`, -1 for the end of the text.
std::size_t end_offset(std::string_view text, const Value& end) {
  return end.as_int() == -1 ? text.size() : utf8_offset(text, position(end));
}

// First match at or after byte `from` that ends at or before byte `end`; an empty `part` is nowhere.
std::size_t find_within(std::string_view text, std::string_view part, std::size_t from, std::size_t end) {
  if (part.empty() || from >= text.size()) return std::string_view::npos;
  const std::size_t found = text.substr(0, end).find(part, from);
  return found;
}

std::string replaced(std::string_view text, std::string_view part, std::string_view by, std::size_t from,
                     std::size_t end, bool all) {
  std::string result(text.substr(0, from));
  for (;;) {
    const std::size_t found = find_within(text, part, from, end);
    if (found == std::string_view::npos) break;
    (result += text.substr(from, found - from)) += by;
    from = found + part.size();
    if (!all) break;
  }
  return result += text.substr(std::min(from, text.size()));
}

// Case by Unicode, whatever the locale of the run.
std::string mapped(const std::string& text, wint_t (*map)(wint_t, locale_t)) {
  static const locale_t unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  std::string result;
  result.reserve(text.size());
  for (std::size_t offset = 0; offset < text.size();) {
    const std::size_t width = utf8_width(text, offset);
    const std::uint32_t code_point = utf8_code_point(text, offset);
    const bool is_stray_byte = width == 1 && code_point >= 0x80;
    if (is_stray_byte || !unicode) {
      result += text.substr(offset, width);
    } else {
      utf8_append(result, static_cast<std::uint32_t>(map(static_cast<wint_t>(code_point), unicode)));
    }
    offset += width;
  }
  return result;
}

std::string joined(Arguments values, const std::string& separator) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) text += separator;
    text += vm::to_text(values[i]);
  }
  return text;
}

}  // namespace

Result strlen_(Call, Arguments arguments, Results results) {
  return give(results, Value::of(static_cast<std::int64_t>(utf8_length(arguments[0].as_string()))));
}

Result substring(Call, Arguments arguments, Results results) {
  const std::string_view text = arguments[0].as_string();
  const std::string_view rest = text.substr(utf8_offset(text, position(arguments[1])));
  return give(results, Value::of(std::string(rest.substr(0, utf8_offset(rest, position(arguments[2]))))));
}

Result find(Call, Arguments arguments, Results results) {
  const std::string_view text = arguments[0].as_string();
  const std::size_t found = find_within(text, arguments[1].as_string(), utf8_offset(text, position(arguments[2])),
                                        end_offset(text, arguments[3]));
  const bool is_there = found != std::string_view::npos;
  return give(results,
              Value::of(is_there ? static_cast<std::int64_t>(utf8_length(text.substr(0, found))) : std::int64_t{-1}));
}

Result string_count(Call, Arguments arguments, Results results) {
  const std::string_view text = arguments[0].as_string(), part = arguments[1].as_string();
  const std::size_t end = end_offset(text, arguments[3]);
  std::int64_t count = 0;
  std::size_t found = find_within(text, part, utf8_offset(text, position(arguments[2])), end);
  for (; found != std::string_view::npos; ++count) found = find_within(text, part, found + part.size(), end);
  return give(results, Value::of(count));
}

Result isint(Call, Arguments arguments, Results results) {
  return give(results, Value::of(read_int(arguments[0].as_string()).has_value()));
}

Result replace(Call, Arguments arguments, Results results) {
  const std::string& text = arguments[0].as_string();
  return give(results, Value::of(replaced(text, arguments[1].as_string(), arguments[2].as_string(),
                                          utf8_offset(text, position(arguments[3])), text.size(), false)));
}

Result replace_all(Call, Arguments arguments, Results results) {
  const std::string& text = arguments[0].as_string();
  const std::size_t from = arguments.size() > 3 ? utf8_offset(text, position(arguments[3])) : 0;
  const std::size_t end = arguments.size() > 4 ? end_offset(text, arguments[4]) : text.size();
  return give(results, Value::of(replaced(text, arguments[1].as_string(), arguments[2].as_string(), from, end, true)));
}

Result codes_of(Call, Arguments arguments, Results results) {
  const std::string_view text = arguments[0].as_string();
  std::vector<std::int64_t> codes;
  for (std::size_t offset = 0; offset < text.size(); offset += utf8_width(text, offset))
    codes.push_back(utf8_code_point(text, offset));
  return give(results, number_array(std::move(codes)));
}

Result text_of_codes(Call, Arguments arguments, Results results) {
  constexpr std::int64_t last = 0x10FFFF, first_surrogate = 0xD800, last_surrogate = 0xDFFF;
  std::string text;
  for (const std::int64_t code : numbers<std::int64_t>(arguments[0])) {
    if (code < 0 || code > last || (code >= first_surrogate && code <= last_surrogate))
      return fail(fmt::format("from_codes: {} is no code of a character", code));
    utf8_append(text, static_cast<std::uint32_t>(code));
  }
  return give(results, Value::of(std::move(text)));
}

// The delimiter is a set of characters; none: each character is a part.
Result split(Call, Arguments arguments, Results results) {
  const std::string_view text = arguments[0].as_string(), delimiters = arguments[1].as_string();
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t offset = 0; offset < text.size();) {
    const std::size_t width = utf8_width(text, offset);
    if (delimiters.empty()) {
      parts.emplace_back(text.substr(offset, width));
    } else if (delimiters.contains(text.substr(offset, width))) {
      parts.emplace_back(text.substr(begin, offset - begin));
      begin = offset + width;
    }
    offset += width;
  }
  if (!delimiters.empty() && !text.empty()) parts.emplace_back(text.substr(begin));
  return give(results, string_array(std::move(parts)));
}

Result join(Call, Arguments arguments, Results results) {
  return give(results, Value::of(joined(elements(arguments[0]), arguments[1].as_string())));
}

Result join_args(Call, Arguments arguments, Results results) {
  return give(results, Value::of(joined(arguments.subspan(1), arguments[0].as_string())));
}

Result string_from_floats(Call, Arguments arguments, Results results) {
  return give(results, Value::of(joined(elements(arguments[0]), ",")));
}

Result trim(Call, Arguments arguments, Results results) {
  return give(results, Value::of(std::string(trimmed(arguments[0].as_string()))));
}

Result to_upper(Call, Arguments arguments, Results results) {
  return give(results, Value::of(mapped(arguments[0].as_string(), towupper_l)));
}

Result to_lower(Call, Arguments arguments, Results results) {
  return give(results, Value::of(mapped(arguments[0].as_string(), towlower_l)));
}

Result sprintf_(Call, Arguments arguments, Results results) {
  auto text = format_text(arguments[0].as_string(), arguments.subspan(1));
  if (!text) return fail(std::move(text.error()));
  return give(results, Value::of(std::move(*text)));
}

Result strcat_(Call, Arguments arguments, Results results) { return give(results, Value::of(joined(arguments, ""))); }

Result dircat(Call, Arguments arguments, Results results) { return give(results, Value::of(joined(arguments, "/"))); }

}  // namespace raddle::stdlib::native
