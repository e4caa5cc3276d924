// Reading JSON texts: a path of keys and indices names an entry. Values read as Python would print them, since
// Swift/T's functions are Python's; other than there, an index into an array is an index.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cctype>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "stdlib/native/functions.hpp"
#include "stdlib/native/member_map.hpp"
#include "stdlib/native/parse_number.hpp"
#include "vm/value/text.hpp"

namespace raddle::stdlib::native {
namespace {

using vm::Value;

using Json = nlohmann::basic_json<MemberMap>;
using Kind = Json::value_t;
template <typename T>
using Expected = std::expected<T, std::string>;

constexpr int deepest = 1000;  // of nesting: what follows the nesting calls itself

bool is_too_deep(const Json& value, int depth = 0) {
  if (depth > deepest) return true;
  if (!value.is_structured()) return false;
  for (const Json& part : value) {
    if (is_too_deep(part, depth + 1)) return true;
  }
  return false;
}

// "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error ..." without its first two words.
std::string reason_of(const nlohmann::json::exception& error) {
  std::string_view text = error.what();
  if (const std::size_t end = text.find("] "); end != std::string_view::npos) text.remove_prefix(end + 2);
  constexpr std::string_view known = "parse error at ";
  if (text.starts_with(known)) text.remove_prefix(known.size());
  return std::string(text);
}

// Where a number begins or a string ends that begins there, or behind one other character.
std::size_t end_of_token(const std::string& text, std::size_t at) {
  const bool is_number = std::isdigit(static_cast<unsigned char>(text[at])) != 0 || text[at] == '-';
  if (is_number) return std::min(text.find_first_not_of("0123456789+-.eE", at), text.size());
  if (text[at] != '"') return at + 1;
  std::size_t end = at + 1;
  while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
  return std::min(end + 1, text.size());
}

// Of a text with numbers that the library refuses, as they are beyond a float: those are infinite, as Python reads
// them. It reads empty strings in their places, which are told by their number among all strings.
Json parse_with_infinities(const std::string& text) {
  std::map<std::size_t, double> infinities;
  std::string finite;
  std::size_t strings = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = end_of_token(text, at);
    const std::string token = text.substr(at, end - at);
    const bool is_beyond = token.front() != '"' && vm::is_beyond_floats(token);
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (is_beyond) infinities.emplace(strings, token.front() == '-' ? -infinity : infinity);
    finite += is_beyond ? "\"\"" : token;
    strings += is_beyond || token.front() == '"' ? 1 : 0;
    at = end;
  }
  std::size_t read = 0;
  return Json::parse(finite, [&](int, Json::parse_event_t event, Json& value) {
    const bool is_key = event == Json::parse_event_t::key;
    if (!is_key && (event != Json::parse_event_t::value || !value.is_string())) return true;
    if (const auto infinity = infinities.find(read++); infinity != infinities.end()) value = infinity->second;
    return true;
  });
}

Json parse_any(const std::string& text) {
  try {
    return Json::parse(text);
  } catch (const Json::out_of_range&) {
    return parse_with_infinities(text);
  }
}

// What is printed as JSON again, which has no infinity.
Json parse_finite(const std::string& text) { return Json::parse(text); }

Expected<Json> parse(const char* function, const std::string& text, Json (*read)(const std::string&) = parse_any) {
  try {
    Json value = read(text);
    if (is_too_deep(value)) return std::unexpected(fmt::format("{}: the JSON nests too deeply", function));
    return value;
  } catch (const nlohmann::json::exception& error) {
    return std::unexpected(fmt::format("{}: this is no JSON: {}", function, reason_of(error)));
  }
}

const char* kind_text(const Json& value) {
  switch (value.type()) {
    case Kind::null: return "null";
    case Kind::object: return "object";
    case Kind::array: return "array";
    case Kind::string: return "string";
    case Kind::boolean: return "boolean";
    case Kind::number_integer:
    case Kind::number_unsigned: return "int";
    case Kind::number_float: return "float";
    case Kind::binary:
    case Kind::discarded: break;  // not made by parsing
  }
  return "";
}

std::string float_repr(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string number_text(const Json& value) {
  return value.is_number_float() ? float_repr(value.get<double>()) : value.dump();
}

// Python's: single quotes, unless the text holds such and no double ones.
std::string string_repr(const std::string& text) {
  const bool doubled = text.find('\'') != std::string::npos && text.find('"') == std::string::npos;
  const char quote = doubled ? '"' : '\'';
  std::string out(1, quote);
  for (const char c : text) {
    switch (c) {
      case '\n': out += "\\n"; continue;
      case '\r': out += "\\r"; continue;
      case '\t': out += "\\t"; continue;
      case '\\': out += "\\\\"; continue;
    }
    if (c == quote) out += '\\';
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out += quote;
}

std::string repr(const Json& value) {
  switch (value.type()) {
    case Kind::null: return "None";
    case Kind::boolean: return value.get<bool>() ? "True" : "False";
    case Kind::string: return string_repr(value.get_ref<const std::string&>());
    case Kind::array: {
      std::string text = "[";
      for (const Json& element : value) text += (text.size() > 1 ? ", " : "") + repr(element);
      return text + "]";
    }
    case Kind::object: {
      std::string text = "{";
      for (const auto& [key, member] : value.items()) {
        text += (text.size() > 1 ? ", " : "") + string_repr(key) + ": " + repr(member);
      }
      return text + "}";
    }
    case Kind::number_integer:
    case Kind::number_unsigned:
    case Kind::number_float: return number_text(value);
    case Kind::binary:
    case Kind::discarded: break;  // no text reads as these
  }
  std::unreachable();
}

std::string text_of(const Json& value) {
  if (value.is_null()) return "null";
  return value.is_string() ? value.get_ref<const std::string&>() : repr(value);
}

// As Python's json.dumps: a space behind commas and colons.
std::string spaced(const Json& value) {
  if (!value.is_structured()) return value.is_number() ? number_text(value) : value.dump();
  const bool is_array = value.is_array();
  std::string text(1, is_array ? '[' : '{');
  for (const auto& [key, part] : value.items()) {
    if (text.size() > 1) text += ", ";
    if (!is_array) text += Json(key).dump() + ": ";
    text += spaced(part);
  }
  return text += is_array ? ']' : '}';
}

std::optional<std::size_t> index_of(std::string_view step) {
  std::size_t index = 0;
  const auto [end, code] = std::from_chars(step.data(), step.data() + step.size(), index);
  if (code != std::errc() || end != step.data() + step.size()) return std::nullopt;
  return index;
}

Expected<const Json*> enter(const Json& value, std::string_view step) {
  if (value.is_object()) {
    const auto found = value.find(step);
    if (found != value.end()) return &*found;
    return std::unexpected(fmt::format("there is no key '{}'", step));
  }
  if (!value.is_array()) {
    return std::unexpected(fmt::format("there is no '{}' in a value of type {}", step, kind_text(value)));
  }
  const auto index = index_of(step);
  if (!index) return std::unexpected(fmt::format("'{}' is no index of an array", step));
  if (*index < value.size()) return &value[*index];
  return std::unexpected(fmt::format("index {} is beyond the end of an array of {}", *index, value.size()));
}

// Keys and indices between commas; empty ones are passed over.
Expected<const Json*> find(const Json& root, std::string_view path) {
  const Json* value = &root;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find(','), path.size());
    const std::string_view step = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (step.empty()) continue;
    const auto next = enter(*value, step);
    if (!next) return next;
    value = *next;
  }
  return value;
}

// What `use` makes of the entry that the arguments (text, path) name.
template <typename Use>
Result with_entry(const char* function, Arguments arguments, Results results, Use use) {
  const auto root = parse(function, arguments[0].as_string());
  if (!root) return fail(root.error());
  const std::string& path = arguments[1].as_string();
  const auto entry = find(*root, path);
  if (!entry) return fail(fmt::format("{}: path '{}': {}", function, path, entry.error()));
  Expected<Value> value = use(**entry);
  if (!value) return fail(fmt::format("{}: path '{}': {}", function, path, value.error()));
  return give(results, std::move(*value));
}

Expected<Value> wrong_kind(const Json& value, const char* wanted) {
  return std::unexpected(fmt::format("expected {}, found {}", wanted, kind_text(value)));
}

}  // namespace

Result json_type(Call, Arguments arguments, Results results) {
  return with_entry("json_type", arguments, results,
                    [](const Json& value) -> Expected<Value> { return Value::of(std::string(kind_text(value))); });
}

Result json_get(Call, Arguments arguments, Results results) {
  return with_entry("json_get", arguments, results,
                    [](const Json& value) -> Expected<Value> { return Value::of(text_of(value)); });
}

Result json_get_int(Call, Arguments arguments, Results results) {
  return with_entry("json_get_int", arguments, results, [](const Json& value) -> Expected<Value> {
    const auto number = parse_int(text_of(value), 10);
    if (number) return Value::of(*number);
    if (!value.is_number_integer()) return wrong_kind(value, "int");
    return std::unexpected(fmt::format("{} is beyond what an int can be, -2^63 to 2^63-1", text_of(value)));
  });
}

Result json_get_float(Call, Arguments arguments, Results results) {
  return with_entry("json_get_float", arguments, results, [](const Json& value) -> Expected<Value> {
    if (value.is_number() && std::isinf(value.get<double>())) return Value::of(value.get<double>());
    const auto number = read_float(text_of(value));
    if (!number) return wrong_kind(value, "float");
    return Value::of(*number);
  });
}

Result json_get_boolean(Call, Arguments arguments, Results results) {
  return with_entry("json_get_boolean", arguments, results, [](const Json& value) -> Expected<Value> {
    const auto truth = read_boolean(text_of(value));
    if (!truth) return wrong_kind(value, "boolean");
    return Value::of(*truth);
  });
}

Result json_array_size(Call, Arguments arguments, Results results) {
  return with_entry("json_array_size", arguments, results, [](const Json& value) -> Expected<Value> {
    if (!value.is_array()) return wrong_kind(value, "array");
    return Value::of(static_cast<std::int64_t>(value.size()));
  });
}

Result json_object_names(Call, Arguments arguments, Results results) {
  return with_entry("json_object_names", arguments, results, [](const Json& value) -> Expected<Value> {
    if (!value.is_object()) return wrong_kind(value, "object");
    std::vector<std::string> names;
    for (const auto& [key, member] : value.items()) names.push_back(key);
    return Value::of(fmt::format("{}", fmt::join(names, ",")));
  });
}

// The members of both; the second one's where both have them.
Result json_join(Call, Arguments arguments, Results results) {
  auto joined = parse("json_join", arguments[0].as_string(), parse_finite);
  if (!joined) return fail(joined.error());
  const auto added = parse("json_join", arguments[1].as_string(), parse_finite);
  if (!added) return fail(added.error());
  for (const Json* each : {static_cast<const Json*>(&*joined), &*added}) {
    if (!each->is_object()) return fail(fmt::format("json_join: expected object, found {}", kind_text(*each)));
  }
  for (const auto& [key, member] : added->items()) (*joined)[key] = member;
  return give(results, Value::of(spaced(*joined)));
}

}  // namespace raddle::stdlib::native
