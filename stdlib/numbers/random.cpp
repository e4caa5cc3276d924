// Random numbers: each call has a stream of its own, the same for every schedule.
//
// Note [functions that draw]. Each is here twice: as a function of the call's stream, and in parts that are functions
// of what they are given, which opt/bodies/explicit_streams makes of it where a kernel may do it. Both give the same
// bits.
#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <utility>

#include "stdlib/native/functions.hpp"
#include "stdlib/numbers/random_stream.hpp"
#include "vm/math/random.hpp"
#include "vm/math/scalar.hpp"

namespace raddle::stdlib::native {
namespace {

using vm::Value;

RandomStream stream_of(Call call) { return {call.settings.seed, call.stream}; }

std::uint64_t word(const Value& value) { return static_cast<std::uint64_t>(value.as_int()); }
Value int_of(std::uint64_t word) { return Value::of(static_cast<std::int64_t>(word)); }

}  // namespace

Result random_(Call call, Arguments, Results results) { return give(results, Value::of(stream_of(call).next_unit())); }

Result randint(Call call, Arguments arguments, Results results) {
  if (Result checked = random_range(call, arguments, results); !checked) return checked;
  const std::uint64_t start = word(arguments[0]);
  return give(results, int_of(start + stream_of(call).next_below(word(arguments[1]) - start)));
}

// Box and Muller's method.
Result random_normal(Call call, Arguments arguments, Results results) {
  if (Result checked = random_deviation(call, arguments.subspan(1), results); !checked) return checked;
  RandomStream stream = stream_of(call);
  const double radius = std::sqrt(-2 * vm::math::scalar::log(1 - stream.next_unit()));
  const double angle = 2 * std::numbers::pi * stream.next_unit();
  return give(results,
              Value::of(arguments[0].as_float() + arguments[1].as_float() * radius * vm::math::scalar::cos(angle)));
}

Result random_exponential(Call call, Arguments arguments, Results results) {
  if (Result checked = random_mean(call, arguments, results); !checked) return checked;
  return give(results, Value::of(-arguments[0].as_float() * vm::math::scalar::log(1 - stream_of(call).next_unit())));
}

// ---------------------------------------------------------------- in parts

Result stream_of_call(Call call, Arguments, Results results) {
  results[0] = int_of(call.settings.seed);
  results[1] = int_of(call.stream);
  return {};
}

Result mix_stream(Call, Arguments arguments, Results results) {
  return give(results, int_of(vm::math::mix_stream(word(arguments[0]), word(arguments[1]))));
}

Result random_unit(Call, Arguments arguments, Results results) {
  return give(results,
              Value::of(vm::math::random_unit<double>(word(arguments[0]), word(arguments[1]), word(arguments[2]))));
}

// How many ints there are, modulo 2^64.
Result random_range(Call call, Arguments arguments, Results results) {
  const std::int64_t start = arguments[0].as_int(), end = arguments[1].as_int();
  if (start >= end) return fail(fmt::format("randint: the start {} is not below the end {}", start, end));
  const Value ends[] = {arguments[1], arguments[0]};
  return distance(call, ends, results);
}

Result random_below(Call, Arguments arguments, Results results) {
  return give(results, int_of(RandomStream(word(arguments[0]), word(arguments[1])).next_below(word(arguments[2]))));
}

Result random_from(Call, Arguments arguments, Results results) {
  return give(results, int_of(word(arguments[0]) + word(arguments[1])));
}

Result distance(Call, Arguments arguments, Results results) {
  return give(results, int_of(word(arguments[0]) - word(arguments[1])));
}

Result random_deviation(Call, Arguments arguments, Results results) {
  if (!(arguments[0].as_float() >= 0)) return fail("random_normal: the standard deviation is negative");
  return give(results, arguments[0]);
}

Result random_mean(Call, Arguments arguments, Results results) {
  if (!(arguments[0].as_float() > 0)) return fail("random_exponential: the mean is not positive");
  return give(results, arguments[0]);
}

}  // namespace raddle::stdlib::native
