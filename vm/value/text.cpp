#include "vm/value/text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <system_error>

#include "vm/value/array.hpp"
#include "vm/value/bag.hpp"
#include "vm/value/dense.hpp"
#include "vm/value/failure.hpp"
#include "vm/value/file.hpp"
#include "vm/value/structure.hpp"

namespace raddle::vm {

namespace {

/// Adds `digits` with a point after the first `whole` of them, filled up with zeros.
void append_fixed(std::string& text, std::string_view digits, int whole) {
  if (whole <= 0) {
    (text += "0.").append(static_cast<std::size_t>(-whole), '0') += digits;
    return;
  }
  const auto count = static_cast<std::size_t>(whole);
  text += digits.substr(0, count);
  if (digits.size() <= count)
    text.append(count - digits.size(), '0') += ".0";
  else
    (text += '.') += digits.substr(count);
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

/// @param value  a double or a float: the text is the shortest that reads back as that type
template <typename Float>
void append_shortest(std::string& text, Float value) {
  if (std::isnan(value)) return static_cast<void>(text += "NaN");
  if (std::signbit(value)) text += '-';
  if (std::isinf(value)) return static_cast<void>(text += "Inf");
  char buffer[40];  // holds every double, as d.ddde+XX
  const auto [end, code] =
      std::to_chars(buffer, buffer + sizeof buffer, std::abs(value), std::chars_format::scientific);
  static_cast<void>(code);
  char* const e = std::find(buffer, end, 'e');
  int exponent = 0;
  std::from_chars(e + (e[1] == '+' ? 2 : 1), end, exponent);
  if (e > buffer + 1) std::copy(buffer + 2, e, buffer + 1);  // the digits alone
  const std::string_view digits(buffer, static_cast<std::size_t>(e - buffer) - (e > buffer + 1 ? 1 : 0));
  if (exponent >= -4 && exponent < 17) return append_fixed(text, digits, exponent + 1);
  text += digits[0];
  if (digits.size() > 1) (text += '.') += digits.substr(1);
  (text += exponent < 0 ? "e" : "e+") += std::to_string(exponent);
}

template <typename Float>
struct ReadFloat {
  bool is_number = false;
  bool is_beyond = false;
  Float value = 0;
};

template <typename Float>
ReadFloat<Float> read_float(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  ReadFloat<Float> read;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), read.value);
  read.is_number = !text.empty() && end == text.data() + text.size();
  if (read.is_number && error == std::errc::result_out_of_range) {
    read.value = static_cast<Float>(std::strtod(std::string(text).c_str(), nullptr));  // says which end
    read.is_beyond = std::isinf(read.value);
  }
  return read;
}

}  // namespace

void append_float(std::string& text, double value) { append_shortest(text, value); }

std::string float_text(double value) {
  std::string text;
  append_float(text, value);
  return text;
}

std::string float32_text(float value) {
  std::string text;
  append_shortest(text, value);
  return text;
}

std::optional<double> float_of_text(std::string_view text) {
  const auto read = read_float<double>(text);
  return read.is_number && !read.is_beyond ? std::optional(read.value) : std::nullopt;
}

std::optional<float> float32_of_text(std::string_view text) {
  const auto read = read_float<float>(text);
  return read.is_number && !read.is_beyond ? std::optional(read.value) : std::nullopt;
}

bool is_beyond_floats(std::string_view text) { return read_float<double>(text).is_beyond; }

std::string to_text(const Value& value) {
  switch (value.kind()) {
    case ValueKind::none: return "?";
    case ValueKind::void_: return "";
    case ValueKind::int_: return std::to_string(value.as_int());
    case ValueKind::float_: return float_text(value.as_float());
    case ValueKind::int32: return std::to_string(value.as_int());
    case ValueKind::float32: return float32_text(static_cast<float>(value.as_float()));
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
      if (is_dense(structure)) return dense_text(structure, whole_dense_layout);
      for (std::size_t i = 0; i < structure.field_count(); ++i) {
        append_list(text, structure.field_name(i));
        append_list(text, nested_text(structure.field(i).get()));
      }
      return text;
    }
  }
  return {};
}

std::string result_text(const Value& value) {
  if (value.kind() == ValueKind::boolean) return value.as_bool() ? "true" : "false";
  return to_text(value);
}

std::string key_text(const Value& key) {
  return key.kind() == ValueKind::string ? "\"" + key.as_string() + "\"" : result_text(key);
}

std::string index_text(std::span<const std::int64_t> extents, const Value& key) {
  const bool has_places = std::ranges::find(extents, 0) == extents.end();
  if (extents.size() < 2 || !has_places) return key_text(key);
  std::string text;
  std::int64_t number = key.as_int();
  for (std::size_t axis = extents.size(); axis-- > 0;) {
    const std::int64_t index = axis == 0 ? number : number % extents[axis];
    text = std::to_string(index) + (text.empty() ? "" : ", ") + text;
    number /= extents[axis];
  }
  return text;
}

}  // namespace raddle::vm
