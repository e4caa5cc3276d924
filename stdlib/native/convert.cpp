// Conversions between int, float, boolean and string.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "stdlib/native/functions.hpp"
#include "stdlib/native/jenkins_hash.hpp"
#include "stdlib/native/parse_number.hpp"
#include "vm/value/text.hpp"

namespace raddle::stdlib::native {

using vm::Value;

Result number_to_string(Call, Arguments arguments, Results results) {
  return give(results, Value::of(vm::to_text(arguments[0])));
}

Result bool_to_string(Call, Arguments arguments, Results results) {
  return give(results, Value::of(std::string(arguments[0].as_bool() ? "true" : "false")));
}

namespace {

// Errors name the function as the script does: some have several names.

Result read_int_by(std::string_view function, Arguments arguments, Results results) {
  auto number = parse_int(arguments[0].as_string(), arguments.size() > 1 ? arguments[1].as_int() : 10);
  if (!number) return fail(fmt::format("{}: {}", function, number.error()));
  return give(results, Value::of(*number));
}

Result read_float_by(std::string_view function, Arguments arguments, Results results) {
  const std::string& text = arguments[0].as_string();
  if (const auto number = read_float(text)) return give(results, Value::of(*number));
  if (vm::is_beyond_floats(trimmed(text)))
    return fail(fmt::format("{}(): '{}' is beyond what a float can be, -1.8e308 to 1.8e308", function, text));
  return fail(fmt::format("{}(): could not convert string '{}' to float", function, text));
}

Result read_boolean_by(std::string_view function, Arguments arguments, Results results) {
  const std::string& text = arguments[0].as_string();
  if (const auto truth = read_boolean(text)) return give(results, Value::of(*truth));
  return fail(fmt::format("{}(): could not convert string '{}' to boolean", function, text));
}

}  // namespace

Result string_to_int(Call, Arguments arguments, Results results) {
  return read_int_by("string2int", arguments, results);
}
Result parse_integer(Call, Arguments arguments, Results results) { return read_int_by("parseInt", arguments, results); }
Result toint(Call, Arguments arguments, Results results) { return read_int_by("toint", arguments, results); }

Result string_to_float(Call, Arguments arguments, Results results) {
  return read_float_by("string2float", arguments, results);
}
Result tofloat(Call, Arguments arguments, Results results) { return read_float_by("tofloat", arguments, results); }
Result parse_float(Call, Arguments arguments, Results results) {
  return read_float_by("parseFloat", arguments, results);
}

Result string_to_bool(Call, Arguments arguments, Results results) {
  return read_boolean_by("string2boolean", arguments, results);
}
Result string2bool(Call, Arguments arguments, Results results) {
  return read_boolean_by("string2bool", arguments, results);
}

Result int_to_float(Call, Arguments arguments, Results results) {
  return give(results, Value::of(static_cast<double>(arguments[0].as_int())));
}

// Toward zero.
Result float_to_int(Call, Arguments arguments, Results results) {
  const double value = std::trunc(arguments[0].as_float());
  if (!(value >= -0x1p63 && value < 0x1p63)) {
    return fail(fmt::format("{} is no 64-bit integer", vm::float_text(arguments[0].as_float())));
  }
  return give(results, Value::of(static_cast<std::int64_t>(value)));
}

Result int_to_int32(Call, Arguments arguments, Results results) {
  const std::int64_t value = arguments[0].as_int();
  if (!std::in_range<std::int32_t>(value)) return fail(fmt::format("{} does not fit into an int32", value));
  return give(results, Value::of_int32(static_cast<std::int32_t>(value)));
}

// Toward zero.
Result float_to_int32(Call, Arguments arguments, Results results) {
  const double value = std::trunc(arguments[0].as_float());
  if (!(value >= -0x1p31 && value < 0x1p31))
    return fail(fmt::format("{} does not fit into an int32", vm::float_text(arguments[0].as_float())));
  return give(results, Value::of_int32(static_cast<std::int32_t>(value)));
}

Result int32_to_int(Call, Arguments arguments, Results results) {
  return give(results, Value::of(arguments[0].as_int()));
}

Result round_to_float32(Call, Arguments arguments, Results results) {
  return give(results, Value::of_float32(static_cast<float>(arguments[0].as_float())));
}

// From a half of the last digit beyond the greatest float32 on a number would become infinite.
Result float_to_float32(Call call, Arguments arguments, Results results) {
  const double value = arguments[0].as_float();
  if (std::abs(value) >= 0x1.ffffffp127 && !std::isinf(value))
    return fail(fmt::format("{} does not fit into a float32", vm::float_text(value)));
  return round_to_float32(call, arguments, results);
}

Result float32_to_float(Call, Arguments arguments, Results results) {
  return give(results, Value::of(arguments[0].as_float()));
}

Result bool_to_int(Call, Arguments arguments, Results results) {
  return give(results, Value::of(std::int64_t{arguments[0].as_bool() ? 1 : 0}));
}

// As Swift/T's: the remainder by the largest C int.
Result hash(Call, Arguments arguments, Results results) {
  constexpr std::uint32_t bound = std::numeric_limits<std::int32_t>::max();
  return give(results, Value::of(std::int64_t{jenkins_hash(arguments[0].as_string()) % bound}));
}

}  // namespace raddle::stdlib::native
