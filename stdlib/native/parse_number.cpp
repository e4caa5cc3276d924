#include "stdlib/native/parse_number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <system_error>

#include "vm/value/text.hpp"

namespace raddle::stdlib::native {
namespace {

struct IntText {
  bool negative = false;
  int base = 10;
  std::string_view digits;
};

// Splits off the sign and, if `text` has one, the prefix of the base.
IntText split_int(std::string_view text) {
  IntText parts;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    parts.negative = text[0] == '-';
    text.remove_prefix(1);
  }
  if (text.size() > 2 && text[0] == '0') {
    const char mark = static_cast<char>(text[1] | 0x20);
    parts.base = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 10;
    if (parts.base != 10) text.remove_prefix(2);
  }
  parts.digits = text;
  return parts;
}

struct IntResult {
  std::int64_t value = 0;
  std::size_t used = 0;  // digits; 0: there is none
  bool in_range = true;
};

IntResult convert(bool negative, std::string_view digits, int base) {
  std::uint64_t magnitude = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), magnitude, base);
  IntResult result;
  result.used = static_cast<std::size_t>(end - digits.data());
  const std::uint64_t limit = std::uint64_t{std::numeric_limits<std::int64_t>::max()} + (negative ? 1 : 0);
  result.in_range = error != std::errc::result_out_of_range && magnitude <= limit;
  result.value = static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude);
  return result;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view spaces = " \t\n\v\f\r";
  const std::size_t begin = text.find_first_not_of(spaces);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(spaces) - begin + 1);
}

std::optional<std::int64_t> read_int(std::string_view text) {
  const IntText parts = split_int(trimmed(text));
  const IntResult result = convert(parts.negative, parts.digits, parts.base);
  if (parts.digits.empty() || result.used != parts.digits.size() || !result.in_range) return std::nullopt;
  return result.value;
}

std::optional<double> read_float(std::string_view text) {
  text = trimmed(text);
  if (const auto whole = read_int(text)) return static_cast<double>(*whole);
  return vm::float_of_text(text);
}

std::optional<bool> read_boolean(std::string_view text) {
  std::string word(trimmed(text));
  std::ranges::transform(word, word.begin(), [](unsigned char letter) { return std::tolower(letter); });
  for (const char* const yes : {"true", "yes", "y", "on", "t"}) {
    if (word == yes) return true;
  }
  for (const char* const no : {"false", "no", "n", "off", "f"}) {
    if (word == no) return false;
  }
  if (const auto number = read_float(word)) return *number != 0;
  return std::nullopt;
}

std::expected<std::int64_t, std::string> parse_int(std::string_view text, std::int64_t base) {
  if (base < 2 || base > 36) return std::unexpected(fmt::format("base {} is not between 2 and 36", base));
  IntText parts = split_int(trimmed(text));
  if (parts.base != 10 && parts.base != base) {  // what looks like the mark of another base is part of the text
    const std::string_view whole = trimmed(text);
    parts.digits = whole.substr(whole.find_first_not_of("+-"));
  }
  const IntResult result = convert(parts.negative, parts.digits, static_cast<int>(base));
  if (result.used == 0) {
    return std::unexpected(fmt::format("Integer parse: '{}' cannot be interpreted as a base {} integer", text, base));
  }
  if (result.used != parts.digits.size()) {
    return std::unexpected(fmt::format("Invalid trailing characters in '{}'", text));
  }
  if (!result.in_range) return std::unexpected(fmt::format("Integer parse: '{}' does not fit into 64 bits", text));
  return result.value;
}

}  // namespace raddle::stdlib::native
