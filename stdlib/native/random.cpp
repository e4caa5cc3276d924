// Random numbers: each call has a stream of its own, the same for every schedule.
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "stdlib/native/functions.hpp"
#include "stdlib/native/philox.hpp"
#include "vm/math/scalar.hpp"

namespace raddle::stdlib::native {
namespace {

using vm::Value;

RandomStream stream_of(Call call) { return {call.settings.seed, call.stream}; }

}  // namespace

Result random_(Call call, Arguments, Results results) { return give(results, Value::of(stream_of(call).next_unit())); }

Result randint(Call call, Arguments arguments, Results results) {
  const std::int64_t start = arguments[0].as_int(), end = arguments[1].as_int();
  if (start >= end) return fail(fmt::format("randint: the start {} is not below the end {}", start, end));
  const std::uint64_t count = static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(start);
  const std::uint64_t value = static_cast<std::uint64_t>(start) + stream_of(call).next_below(count);
  return give(results, Value::of(static_cast<std::int64_t>(value)));
}

// Box and Muller's method.
Result random_normal(Call call, Arguments arguments, Results results) {
  if (!(arguments[1].as_float() >= 0)) return fail("random_normal: the standard deviation is negative");
  RandomStream stream = stream_of(call);
  const double radius = std::sqrt(-2 * vm::math::scalar::log(1 - stream.next_unit()));
  const double angle = 2 * std::numbers::pi * stream.next_unit();
  return give(results,
              Value::of(arguments[0].as_float() + arguments[1].as_float() * radius * vm::math::scalar::cos(angle)));
}

Result random_exponential(Call call, Arguments arguments, Results results) {
  if (!(arguments[0].as_float() > 0)) return fail("random_exponential: the mean is not positive");
  return give(results, Value::of(-arguments[0].as_float() * vm::math::scalar::log(1 - stream_of(call).next_unit())));
}

}  // namespace raddle::stdlib::native
