// Conversions between int, float, boolean and string.
#include <fmt/format.h>

#include <cmath>
#include <limits>

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

Result string_to_int(Call, Arguments arguments, Results results) {
  auto number = parse_int(arguments[0].as_string(), arguments.size() > 1 ? arguments[1].as_int() : 10);
  if (!number) return fail(std::move(number.error()));
  return give(results, Value::of(*number));
}

Result string_to_float(Call, Arguments arguments, Results results) {
  const std::string& text = arguments[0].as_string();
  if (const auto number = read_float(text)) return give(results, Value::of(*number));
  return fail(fmt::format("string2float(): could not convert string '{}' to float", text));
}

Result string_to_bool(Call, Arguments arguments, Results results) {
  const std::string& text = arguments[0].as_string();
  if (const auto truth = read_boolean(text)) return give(results, Value::of(*truth));
  return fail(fmt::format("string2boolean(): could not convert string '{}' to boolean", text));
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

Result bool_to_int(Call, Arguments arguments, Results results) {
  return give(results, Value::of(std::int64_t{arguments[0].as_bool() ? 1 : 0}));
}

// As Swift/T's: the remainder by the largest C int.
Result hash(Call, Arguments arguments, Results results) {
  constexpr std::uint32_t bound = std::numeric_limits<std::int32_t>::max();
  return give(results, Value::of(std::int64_t{jenkins_hash(arguments[0].as_string()) % bound}));
}

}  // namespace raddle::stdlib::native
