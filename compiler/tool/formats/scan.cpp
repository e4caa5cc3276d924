#include "compiler/tool/formats/scan.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

#include "vm/value/text.hpp"

namespace raddle::sweep {

namespace {

Part trimmed(const Part& part) {
  const std::size_t begin = part.text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return part.sub(part.text.size());
  return part.sub(begin, part.text.find_last_not_of(" \t") + 1 - begin);
}

/// Where the quotes end that begin at `at`; the text's end if they do not.
std::size_t end_of_quotes(std::string_view text, std::size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] != '"') continue;
    if (at + 1 == text.size() || text[at + 1] != '"') return at;
    ++at;
  }
  return text.size();
}

}  // namespace

std::vector<Part> split(const Part& whole, char separator) {
  std::vector<Part> parts;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i < whole.text.size(); ++i) {
    const char sign = whole.text[i];
    if (sign == '\\') {
      ++i;
    } else if (sign == '"' && trimmed(whole.sub(begin, i - begin)).text.empty()) {
      i = end_of_quotes(whole.text, i);
    } else if (sign == '(') {
      ++depth;
    } else if (sign == ')') {
      --depth;
    } else if (sign == separator && depth <= 0) {
      parts.push_back(trimmed(whole.sub(begin, i - begin)));
      begin = i + 1;
    }
  }
  parts.push_back(trimmed(whole.sub(std::min(begin, whole.text.size()))));
  return parts;
}

std::optional<FunctionCall> read_call(const Part& whole) {
  const std::size_t open = whole.text.find('(');
  if (open == std::string_view::npos || !whole.text.ends_with(')') || !is_name(whole.text.substr(0, open)))
    return std::nullopt;
  return FunctionCall{whole.sub(0, open), split(whole.sub(open + 1, whole.text.size() - open - 2), ',')};
}

std::optional<std::string> unquoted(std::string_view text) {
  if (text.size() < 2 || end_of_quotes(text, 0) + 1 != text.size()) return std::nullopt;
  std::string plain;
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    plain += text[i];
    if (text[i] == '"') ++i;
  }
  return plain;
}

std::string unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_escape = text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == ',' || text[i + 1] == ':');
    plain += text[is_escape ? ++i : i];
  }
  return plain;
}

std::optional<double> read_number(std::string_view text) {
  const std::optional<double> number = vm::float_of_text(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

bool is_not_finite(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  const auto is_letter = [](char one, char other) { return std::tolower(static_cast<unsigned char>(one)) == other; };
  return std::ranges::any_of(std::array<std::string_view, 3>{"nan", "inf", "infinity"},
                             [&](std::string_view name) { return std::ranges::equal(text, name, is_letter); });
}

std::int64_t read_int(std::string_view text) {
  std::int64_t number = 0;
  if (text.starts_with('+')) text.remove_prefix(1);
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::optional<std::uint64_t> read_count(std::string_view text) {
  std::uint64_t count = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (fault != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return count;
}

bool is_name(std::string_view text) {
  const auto is_part = [](unsigned char sign) { return std::isalnum(sign) != 0 || sign == '_'; };
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 && std::ranges::all_of(text, is_part);
}

bool is_distribution(std::string_view name) { return name == "U" || name == "N" || name == "logU" || name == "intU"; }

}  // namespace raddle::sweep
