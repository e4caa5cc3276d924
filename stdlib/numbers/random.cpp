// Random numbers: each call has a stream of its own, the same for every schedule.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <type_traits>
#include <utility>

#include "stdlib/native/functions.hpp"
#include "stdlib/numbers/philox.hpp"
#include "vm/math/scalar.hpp"
#include "vm/memory/memory_limit.hpp"
#include "vm/value/array.hpp"

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

// ---------------------------------------------------------------- many at once, all of the call's stream

namespace {

template <typename T, typename Next>
Result numbers_of(std::int64_t count, Results results, const Next& next) {
  if (count < 0) return fail(fmt::format("{} random numbers", count));
  const double bytes = sizeof(T) * static_cast<double>(count);
  if (!vm::fits_in_memory(bytes)) return fail(vm::no_memory_text("an array of random numbers", bytes));
  const vm::ValueKind kind = std::is_same_v<T, double> ? vm::ValueKind::float_ : vm::ValueKind::int_;
  vm::Buffer::Owner numbers = vm::Buffer::make(kind, static_cast<std::size_t>(count));
  std::ranges::generate(std::span(static_cast<T*>(numbers->at_index(0)), numbers->count()), next);
  return give(results, Value::of_object(vm::ValueKind::array, vm::Array::packed_of(std::move(numbers))));
}

}  // namespace

Result random_floats(Call call, Arguments arguments, Results results) {
  RandomStream stream = stream_of(call);
  return numbers_of<double>(arguments[0].as_int(), results, [&] { return stream.next_unit(); });
}

Result random_normals(Call call, Arguments arguments, Results results) {
  RandomStream stream = stream_of(call);
  return numbers_of<double>(arguments[0].as_int(), results, [&] {
    const double radius = std::sqrt(-2 * vm::math::scalar::log(1 - stream.next_unit()));
    return radius * vm::math::scalar::cos(2 * std::numbers::pi * stream.next_unit());
  });
}

Result random_ints(Call call, Arguments arguments, Results results) {
  const std::int64_t low = arguments[0].as_int(), high = arguments[1].as_int();
  if (low >= high) return fail(fmt::format("randint: the start {} is not below the end {}", low, high));
  const std::uint64_t bound = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  RandomStream stream = stream_of(call);
  return numbers_of<std::int64_t>(arguments[2].as_int(), results, [&] {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + stream.next_below(bound));
  });
}

}  // namespace raddle::stdlib::native
