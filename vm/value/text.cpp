#include "vm/value/text.hpp"

#include <charconv>
#include <cmath>

#include "vm/value/array.hpp"
#include "vm/value/bag.hpp"
#include "vm/value/failure.hpp"
#include "vm/value/file.hpp"
#include "vm/value/structure.hpp"

namespace raddle::vm {

namespace {

/// `digits` with a point after the first `whole` of them, filled up with zeros.
std::string fixed_text(const std::string& digits, int whole) {
  if (whole <= 0) return "0." + std::string(static_cast<std::size_t>(-whole), '0') + digits;
  const auto count = static_cast<std::size_t>(whole);
  if (digits.size() <= count) return digits + std::string(count - digits.size(), '0') + ".0";
  return digits.substr(0, count) + "." + digits.substr(count);
}

void append_list(std::string& text, const std::string& item) {
  if (!text.empty()) text += ' ';
  text += item.empty() ? "{}" : item;
}

std::string nested_text(const Value& value) {
  if (!value) return "?";
  const std::string text = to_text(value);
  const bool braces = text.find(' ') != std::string::npos;
  return braces ? "{" + text + "}" : text;
}

}  // namespace

std::string float_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Inf" : "Inf";
  char buffer[40];
  const auto [end, code] =
      std::to_chars(buffer, buffer + sizeof buffer, std::fabs(value), std::chars_format::scientific);
  static_cast<void>(code);                  // 40 characters hold every double
  const std::string shortest(buffer, end);  // d.ddde+XX
  const std::size_t e = shortest.find('e');
  const int exponent = std::stoi(shortest.substr(e + 1));
  std::string digits = shortest.substr(0, 1);
  if (e > 2) digits += shortest.substr(2, e - 2);
  const std::string sign = std::signbit(value) ? "-" : "";
  if (exponent >= -4 && exponent < 17) return sign + fixed_text(digits, exponent + 1);
  std::string text = sign + digits.substr(0, 1);
  if (digits.size() > 1) text += "." + digits.substr(1);
  return text + (exponent < 0 ? "e" : "e+") + std::to_string(exponent);
}

std::string to_text(const Value& value) {
  switch (value.kind()) {
    case ValueKind::none: return "?";
    case ValueKind::void_: return "";
    case ValueKind::int_: return std::to_string(value.as_int());
    case ValueKind::float_: return float_text(value.as_float());
    case ValueKind::boolean: return value.as_bool() ? "1" : "0";
    case ValueKind::string: return value.as_string();
    case ValueKind::file: return value.as_file().path();
    case ValueKind::blob: return value.as_bytes();
    case ValueKind::updateable: return "updateable_float";
    case ValueKind::failure: return as_failure(value).message;
    case ValueKind::array: {
      std::string text;
      value.as_array().for_each([&](const Value& key, const Value& element) {
        append_list(text, nested_text(key));
        append_list(text, nested_text(element));
      });
      return text;
    }
    case ValueKind::bag: {
      std::string text;
      value.as_bag().for_each([&](const Value& element) { append_list(text, nested_text(element)); });
      return text;
    }
    case ValueKind::structure: {
      std::string text;
      Structure& structure = value.as_structure();
      for (std::size_t i = 0; i < structure.field_count(); ++i) {
        append_list(text, structure.field_name(i));
        append_list(text, nested_text(structure.field(i).get()));
      }
      return text;
    }
  }
  return {};
}

std::string key_text(const Value& key) {
  if (key.kind() == ValueKind::string) return "\"" + key.as_string() + "\"";
  if (key.kind() == ValueKind::boolean) return key.as_bool() ? "true" : "false";
  return to_text(key);
}

}  // namespace raddle::vm
