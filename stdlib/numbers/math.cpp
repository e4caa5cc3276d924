// Functions of numbers. A domain error is an error; NaN in gives NaN out.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "stdlib/native/functions.hpp"
#include "vm/math/scalar.hpp"
#include "vm/value/text.hpp"

namespace raddle::stdlib::native {
namespace {

namespace math = vm::math::scalar;
using vm::Value;

float float32_of(const Value& value) { return static_cast<float>(value.as_float()); }
Value value_of(double number) { return Value::of(number); }
Value value_of(float number) { return Value::of_float32(number); }

// @param value  the result for `arguments`; NaN where none of them is one means that there is no result
Result give_in_domain(const char* name, Arguments arguments, auto value, Results results) {
  if (!std::isnan(value)) return give(results, value_of(value));
  std::string list;
  for (const Value& argument : arguments) {
    if (std::isnan(argument.as_float())) return give(results, value_of(value));
    list += (list.empty() ? "" : ", ") + vm::float_text(argument.as_float());
  }
  return fail(fmt::format("domain error: {}({})", name, list));
}

}  // namespace

#define RADDLE_FLOAT_FUNCTION(function, text, expression)        \
  Result function(Call, Arguments arguments, Results results) {  \
    const double x = arguments[0].as_float();                    \
    return give_in_domain(text, arguments, expression, results); \
  }
RADDLE_FLOAT_FUNCTION(floor_, "floor", std::floor(x))
RADDLE_FLOAT_FUNCTION(ceil_, "ceil", std::ceil(x))
RADDLE_FLOAT_FUNCTION(round_, "round", std::round(x))
RADDLE_FLOAT_FUNCTION(sqrt_, "sqrt", math::sqrt(x))
RADDLE_FLOAT_FUNCTION(exp_, "exp", math::exp(x))
RADDLE_FLOAT_FUNCTION(exp2_, "exp2", math::exp2(x))
RADDLE_FLOAT_FUNCTION(expm1_, "expm1", math::expm1(x))
RADDLE_FLOAT_FUNCTION(log_, "log", math::log(x))
RADDLE_FLOAT_FUNCTION(log10_, "log10", math::log10(x))
RADDLE_FLOAT_FUNCTION(log2_, "log2", math::log2(x))
RADDLE_FLOAT_FUNCTION(log1p_, "log1p", math::log1p(x))
RADDLE_FLOAT_FUNCTION(cbrt_, "cbrt", math::cbrt(x))
RADDLE_FLOAT_FUNCTION(sin_, "sin", math::sin(x))
RADDLE_FLOAT_FUNCTION(cos_, "cos", math::cos(x))
RADDLE_FLOAT_FUNCTION(tan_, "tan", math::tan(x))
RADDLE_FLOAT_FUNCTION(asin_, "asin", math::asin(x))
RADDLE_FLOAT_FUNCTION(acos_, "acos", math::acos(x))
RADDLE_FLOAT_FUNCTION(atan_, "atan", math::atan(x))
RADDLE_FLOAT_FUNCTION(sinh_, "sinh", math::sinh(x))
RADDLE_FLOAT_FUNCTION(cosh_, "cosh", math::cosh(x))
RADDLE_FLOAT_FUNCTION(tanh_, "tanh", math::tanh(x))
RADDLE_FLOAT_FUNCTION(asinh_, "asinh", math::asinh(x))
RADDLE_FLOAT_FUNCTION(acosh_, "acosh", math::acosh(x))
RADDLE_FLOAT_FUNCTION(atanh_, "atanh", math::atanh(x))
RADDLE_FLOAT_FUNCTION(lgamma_, "lgamma", math::lgamma(x))
RADDLE_FLOAT_FUNCTION(erf_, "erf", math::erf(x))
RADDLE_FLOAT_FUNCTION(erfc_, "erfc", math::erfc(x))
RADDLE_FLOAT_FUNCTION(abs_float, "abs", std::fabs(x))
RADDLE_FLOAT_FUNCTION(log_base, "log", math::log(x) / math::log(arguments[1].as_float()))
RADDLE_FLOAT_FUNCTION(atan2_, "atan2", math::atan2(x, arguments[1].as_float()))
RADDLE_FLOAT_FUNCTION(hypot_, "hypot", math::hypot(x, arguments[1].as_float()))
RADDLE_FLOAT_FUNCTION(pow_float, "pow", math::pow(x, arguments[1].as_float()))
#undef RADDLE_FLOAT_FUNCTION

// Of what is rounded to float32 first.
#define RADDLE_MATH_ARGUMENTS_1 float32_of(arguments[0])
#define RADDLE_MATH_ARGUMENTS_2 float32_of(arguments[0]), float32_of(arguments[1])
#define RADDLE_MATH_FUNCTION(name, count)                                                             \
  Result name##_float32(Call, Arguments arguments, Results results) {                                 \
    return give_in_domain(#name, arguments, math::name##_32(RADDLE_MATH_ARGUMENTS_##count), results); \
  }
#include "vm/math/functions32.def"
#undef RADDLE_MATH_FUNCTION

Result power_float32(Call, Arguments arguments, Results results) {
  return give(results, Value::of_float32(math::pow_32(RADDLE_MATH_ARGUMENTS_2)));
}
#undef RADDLE_MATH_ARGUMENTS_1
#undef RADDLE_MATH_ARGUMENTS_2

Result pow_int(Call, Arguments arguments, Results results) {
  const auto base = static_cast<double>(arguments[0].as_int()), exponent = static_cast<double>(arguments[1].as_int());
  return give(results, Value::of(math::pow(base, exponent)));
}

Result is_nan(Call, Arguments arguments, Results results) {
  return give(results, Value::of(std::isnan(arguments[0].as_float())));
}

Result abs_int(Call, Arguments arguments, Results results) {
  const std::int64_t value = arguments[0].as_int();
  if (value == std::numeric_limits<std::int64_t>::min()) return fail("integer overflow");
  return give(results, Value::of(value < 0 ? -value : value));
}

Result max_int(Call, Arguments arguments, Results results) {
  return give(results, Value::of(std::max(arguments[0].as_int(), arguments[1].as_int())));
}

Result min_int(Call, Arguments arguments, Results results) {
  return give(results, Value::of(std::min(arguments[0].as_int(), arguments[1].as_int())));
}

// NaN if one of them is, in either place.
Result max_float(Call, Arguments arguments, Results results) {
  const double a = arguments[0].as_float(), b = arguments[1].as_float();
  return give(results, Value::of(std::isnan(a) || a > b ? a : b));
}

Result min_float(Call, Arguments arguments, Results results) {
  const double a = arguments[0].as_float(), b = arguments[1].as_float();
  return give(results, Value::of(std::isnan(a) || a < b ? a : b));
}

Result xor_(Call, Arguments arguments, Results results) {
  return give(results, Value::of(arguments[0].as_bool() != arguments[1].as_bool()));
}

}  // namespace raddle::stdlib::native
