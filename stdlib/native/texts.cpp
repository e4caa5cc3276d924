// Strings as people of other languages take them apart: beginnings, ends, widths, regular expressions.
#include <fmt/format.h>

#include "stdlib/native/elements.hpp"
#include "stdlib/native/functions.hpp"
#include "stdlib/native/pattern.hpp"
#include "stdlib/native/utf8.hpp"
#include "vm/value/string_limit.hpp"

namespace raddle::stdlib::native {
namespace {

using vm::Value;

Value boolean(bool value) { return Value::of(value); }

/// `\1` and `\0` in what a match is replaced by.
std::string filled_in(const std::string& by, const std::vector<std::string>& parts) {
  std::string text;
  for (std::size_t i = 0; i < by.size(); ++i) {
    const bool is_group = by[i] == '\\' && i + 1 < by.size() && by[i + 1] >= '0' && by[i + 1] <= '9';
    if (is_group) {
      const auto number = static_cast<std::size_t>(by[++i] - '0');
      if (number < parts.size()) text += parts[number];
    } else if (by[i] == '\\' && i + 1 < by.size() && by[i + 1] == '\\') {
      text += by[++i];
    } else {
      text += by[i];
    }
  }
  return text;
}

}  // namespace

Result starts_with(Call, Arguments arguments, Results results) {
  return give(results, boolean(arguments[0].as_string().starts_with(arguments[1].as_string())));
}

Result ends_with(Call, Arguments arguments, Results results) {
  return give(results, boolean(arguments[0].as_string().ends_with(arguments[1].as_string())));
}

Result split_by(Call, Arguments arguments, Results results) {
  const std::string& text = arguments[0].as_string();
  const std::string& separator = arguments[1].as_string();
  if (separator.empty()) return fail("split_by: the separator is empty; `split(s, \"\")` gives the characters");
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = text.find(separator, begin)) != std::string::npos; begin = end + separator.size())
    parts.push_back(text.substr(begin, end - begin));
  parts.push_back(text.substr(begin));
  return give(results, string_array(std::move(parts)));
}

// Behind the text, or before it if the width is negative.
Result pad(Call, Arguments arguments, Results results) {
  const std::string& text = arguments[0].as_string();
  const std::int64_t wanted = arguments[1].as_int();
  const std::string& fill = arguments[2].as_string();
  if (utf8_length(fill) != 1) return fail(fmt::format("pad: `{}` is not one character", fill));
  const std::uint64_t width = wanted < 0 ? 0 - static_cast<std::uint64_t>(wanted) : static_cast<std::uint64_t>(wanted);
  const std::size_t length = utf8_length(text);
  if (width <= length) return give(results, Value::of(text));
  if (width > vm::longest_string / fill.size()) return fail(vm::too_long_text(width));
  std::string padding;
  for (std::uint64_t i = length; i < width; ++i) padding += fill;
  return give(results, Value::of(wanted < 0 ? padding + text : text + padding));
}

Result regex_match(Call, Arguments arguments, Results results) {
  const auto pattern = Pattern::compile(arguments[1].as_string());
  if (!pattern) return fail("regex_match: " + pattern.error());
  return give(results, boolean(pattern->find(arguments[0].as_string()).has_value()));
}

Result regex_find_all(Call, Arguments arguments, Results results) {
  const auto pattern = Pattern::compile(arguments[1].as_string());
  if (!pattern) return fail("regex_find_all: " + pattern.error());
  const auto matches = pattern->matches(arguments[0].as_string());
  if (!matches) return fail("regex_find_all: " + matches.error());
  std::vector<std::string> found;
  for (const Pattern::Match& match : *matches)
    found.push_back(match.parts.size() > 1 ? match.parts[1] : match.parts[0]);
  return give(results, string_array(std::move(found)));
}

Result regex_replace(Call, Arguments arguments, Results results) {
  const std::string& text = arguments[0].as_string();
  const auto pattern = Pattern::compile(arguments[1].as_string());
  if (!pattern) return fail("regex_replace: " + pattern.error());
  const auto matches = pattern->matches(text);
  if (!matches) return fail("regex_replace: " + matches.error());
  std::string replaced;
  std::size_t begin = 0;
  for (const Pattern::Match& match : *matches) {
    replaced += text.substr(begin, match.begin - begin) + filled_in(arguments[2].as_string(), match.parts);
    begin = match.begin + match.parts[0].size();
  }
  return give(results, Value::of(replaced + text.substr(begin)));
}

Result bitand_(Call, Arguments arguments, Results results) {
  return give(results, Value::of(arguments[0].as_int() & arguments[1].as_int()));
}

Result bitor_(Call, Arguments arguments, Results results) {
  return give(results, Value::of(arguments[0].as_int() | arguments[1].as_int()));
}

Result bitxor_(Call, Arguments arguments, Results results) {
  return give(results, Value::of(arguments[0].as_int() ^ arguments[1].as_int()));
}

// To the left, or, if the number is negative, to the right; the sign stays.
Result shift_bits(Call, Arguments arguments, Results results) {
  const std::int64_t value = arguments[0].as_int(), places = arguments[1].as_int();
  if (places < -63 || places > 63) return fail(fmt::format("shift: {} places: an int has 64", places));
  if (places <= 0) return give(results, Value::of(value >> -places));
  const auto shifted = static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << places);
  if (shifted >> places != value) return fail(fmt::format("shift: {} by {} places is no int any more", value, places));
  return give(results, Value::of(shifted));
}

}  // namespace raddle::stdlib::native
