// Writing JSON: one element for each value, as its type says (json_encode_array, ..._object) or as a specifier says
// (..._retype, ..._format).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "stdlib/native/elements.hpp"
#include "stdlib/native/format.hpp"
#include "stdlib/native/functions.hpp"
#include "stdlib/native/parse_number.hpp"
#include "stdlib/native/words.hpp"
#include "vm/value/text.hpp"

namespace raddle::stdlib::native {
namespace {

using vm::Value;
using vm::ValueKind;
using Text = std::expected<std::string, std::string>;

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"': out += "\\\""; continue;
      case '\\': out += "\\\\"; continue;
      case '\n': out += "\\n"; continue;
      case '\r': out += "\\r"; continue;
      case '\t': out += "\\t"; continue;
    }
    if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out += '"';
}

Text as_its_type_says(const Value& value) {
  if (value.kind() == ValueKind::string) return json_string(value.as_string());
  if (value.kind() == ValueKind::boolean) return value.as_bool() ? "true" : "false";
  const bool is_float = value.kind() == ValueKind::float_ || value.kind() == ValueKind::float32;
  if (is_float && !std::isfinite(value.as_float())) {
    return std::unexpected(fmt::format("JSON has no {}", vm::float_text(value.as_float())));
  }
  return vm::to_text(value);
}

// Numbers, booleans, and strings that read as numbers.
std::expected<double, std::string> number_of(const Value& value, std::string_view type) {
  const std::string text = vm::to_text(value);
  const auto number = read_float(text);
  if (number && std::isfinite(*number)) return *number;
  return std::unexpected(fmt::format("cannot convert '{}' to type '{}'", text, type));
}

// Floats lose what is behind the point.
std::expected<Value, std::string> int_of(const Value& value) {
  const std::string text = vm::to_text(value);
  if (const auto exact = read_int(text)) return Value::of(*exact);
  const auto number = number_of(value, "int");
  if (!number) return std::unexpected(number.error());
  if (!(std::abs(*number) < 0x1p63)) return std::unexpected(fmt::format("cannot convert '{}' to type 'int'", text));
  return Value::of(static_cast<std::int64_t>(*number));
}

std::expected<Value, std::string> float_of(const Value& value) {
  const auto number = number_of(value, "float");
  if (!number) return std::unexpected(number.error());
  return Value::of(*number);
}

// A specifier of C: what converts it depends on its last letter.
Text as_format_says(const std::string& specifier, const Value& value) {
  constexpr std::string_view of_int = "diuxXo", of_float = "feEgG";
  const char letter = specifier.back();
  if (letter == 's') {
    const Text text = format_text(specifier, {&value, 1});
    if (!text) return text;
    return json_string(*text);
  }
  const bool is_int = of_int.contains(letter);
  if (!is_int && !of_float.contains(letter)) return std::unexpected(fmt::format("unknown format: '{}'", specifier));
  const auto number = is_int ? int_of(value) : float_of(value);
  if (!number) return std::unexpected(number.error());
  return format_text(specifier, {&*number, 1});
}

Text as_specifier_says(const std::string& specifier, const Value& value) {
  const auto is = [&](const char* name, const char* letter) { return specifier == name || specifier == letter; };
  const auto text_of = [](const std::expected<Value, std::string>& number) -> Text {
    if (!number) return std::unexpected(number.error());
    return vm::to_text(*number);
  };
  if (specifier == "int") return text_of(int_of(value));
  if (specifier == "float") return text_of(float_of(value));
  if (specifier == "string") return json_string(vm::to_text(value));
  if (is("null", "%N")) return "null";
  if (is("json", "%J")) return vm::to_text(value);
  if (is("array", "%A")) return "[ " + vm::to_text(value) + " ]";
  if (is("object", "%O")) return "{ " + vm::to_text(value) + " }";
  if (is("boolean", "%B")) {
    const auto number = number_of(value, "boolean");
    if (!number) return std::unexpected(number.error());
    return *number == 0 ? "false" : "true";
  }
  if (specifier.starts_with('%')) return as_format_says(specifier, value);
  return std::unexpected(fmt::format("unknown type: '{}'", specifier));
}

struct Encoding {
  std::string function;  // for messages
  bool names = false;    // the first argument: string[]
  enum class Types : std::uint8_t { inferred, list, format } types = Types::inferred;
};

std::expected<std::vector<std::string>, std::string> strings_of(const Encoding& encoding, const Value& argument,
                                                                const char* what, std::size_t count) {
  std::vector<std::string> texts;
  if (argument.kind() == ValueKind::string) {
    texts = words_of(argument.as_string());
  } else {
    for (const Value& element : elements(argument)) texts.push_back(element.as_string());
  }
  if (texts.size() == count) return texts;
  return std::unexpected(fmt::format("{}: {} {} for {} values", encoding.function, texts.size(), what, count));
}

// Elements or members joined by ", ".
Text encode(const Encoding& encoding, Arguments arguments) {
  const bool typed = encoding.types != Encoding::Types::inferred;
  const Arguments values = arguments.subspan((encoding.names ? 1u : 0u) + (typed ? 1u : 0u));
  std::vector<std::string> names, types;
  if (encoding.names) {
    auto given = strings_of(encoding, arguments[0], "names", values.size());
    if (!given) return std::unexpected(given.error());
    names = std::move(*given);
  }
  if (typed) {
    const char* const what = encoding.types == Encoding::Types::list ? "types" : "specifiers";
    auto given = strings_of(encoding, arguments[encoding.names ? 1 : 0], what, values.size());
    if (!given) return std::unexpected(given.error());
    types = std::move(*given);
  }
  std::string out;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Text text = typed ? as_specifier_says(types[i], values[i]) : as_its_type_says(values[i]);
    if (!text) return std::unexpected(encoding.function + ": " + text.error());
    if (i > 0) out += ", ";
    if (encoding.names) out += json_string(names[i]) + ": ";
    out += *text;
  }
  return out;
}

Result give_encoded(const Encoding& encoding, bool brackets, Arguments arguments, Results results) {
  Text text = encode(encoding, arguments);
  if (!text) return fail(text.error());
  if (brackets) text = encoding.names ? "{" + *text + "}" : "[" + *text + "]";
  return give(results, Value::of(std::move(*text)));
}

}  // namespace

#define RADDLE_JSON_ENCODER(name, brackets, names, types)                                      \
  Result name(Call, Arguments arguments, Results results) {                                    \
    return give_encoded({#name, names, Encoding::Types::types}, brackets, arguments, results); \
  }
RADDLE_JSON_ENCODER(json_encode_array, true, false, inferred)
RADDLE_JSON_ENCODER(json_encode_array_retype, true, false, list)
RADDLE_JSON_ENCODER(json_encode_array_format, true, false, format)
RADDLE_JSON_ENCODER(json_encode_array_contents, false, false, inferred)
RADDLE_JSON_ENCODER(json_encode_array_contents_retype, false, false, list)
RADDLE_JSON_ENCODER(json_encode_array_contents_format, false, false, format)
RADDLE_JSON_ENCODER(json_encode_object, true, true, inferred)
RADDLE_JSON_ENCODER(json_encode_object_retype, true, true, list)
RADDLE_JSON_ENCODER(json_encode_object_format, true, true, format)
RADDLE_JSON_ENCODER(json_encode_object_contents, false, true, inferred)
RADDLE_JSON_ENCODER(json_encode_object_contents_retype, false, true, list)
RADDLE_JSON_ENCODER(json_encode_object_contents_format, false, true, format)
#undef RADDLE_JSON_ENCODER

Result json_arrayify(Call, Arguments arguments, Results results) {
  return give(results, Value::of("[" + arguments[0].as_string() + "]"));
}

Result json_objectify(Call, Arguments arguments, Results results) {
  return give(results, Value::of("{" + arguments[0].as_string() + "}"));
}

}  // namespace raddle::stdlib::native
