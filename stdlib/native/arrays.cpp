// Arrays and bags as a whole: size, keys, ranges, picking elements, text form.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stdlib/native/elements.hpp"
#include "stdlib/native/functions.hpp"
#include "stdlib/native/pattern.hpp"
#include "vm/value/bag.hpp"
#include "vm/value/range.hpp"
#include "vm/value/text.hpp"

namespace raddle::stdlib::native {
namespace {

using vm::Value;

Value count_of(std::size_t count) { return Value::of(static_cast<std::int64_t>(count)); }

template <typename T>
Result range_of(T begin, T end, T step, Results results) {
  auto range = vm::make_range(begin, end, step);
  if (!range) return fail(range.error());
  return give(results, Value::of_object(vm::ValueKind::array, *std::move(range)));
}

Result keys_of(const Value& array, Results results) {
  std::vector<Value> keys;
  keys.reserve(array.as_array().size());
  array.as_array().for_each([&](const Value& key, const Value&) { keys.push_back(key); });
  return give(results, dense_array(std::move(keys)));
}

}  // namespace

Result size(Call, Arguments arguments, Results results) {
  return give(results, count_of(arguments[0].as_array().size()));
}

Result bag_size(Call, Arguments arguments, Results results) {
  return give(results, count_of(arguments[0].as_bag().size()));
}

Result contains(Call, Arguments arguments, Results results) {
  return give(results, Value::of(arguments[0].as_array().contains(arguments[1])));
}

// Whether the element could be read at this moment without waiting.
Result exists(Call, Arguments arguments, Results results) {
  const Value element = arguments[0].as_array().get(arguments[1]);
  return give(results, Value::of(element && element.kind() != vm::ValueKind::failure));
}

Result keys(Call, Arguments arguments, Results results) { return keys_of(arguments[0], results); }

// How many values a range has, which goes up or down.
Result count_int_range(Call, Arguments arguments, Results results) {
  const std::int64_t low = arguments[0].as_int(), high = arguments[1].as_int(), step = arguments[2].as_int();
  if (const char* fault = vm::step_fault(low, step)) return fail(fault);
  return give(results, Value::of(vm::range_count(low, high, step)));
}

Result count_float_range(Call, Arguments arguments, Results results) {
  const double low = arguments[0].as_float(), high = arguments[1].as_float(), step = arguments[2].as_float();
  if (const char* fault = vm::step_fault(low, step)) return fail(fault);
  if (std::isinf(step)) return fail("the step of a range is infinite");
  return give(results, Value::of(vm::range_count(low, high, step)));
}

Result range(Call, Arguments arguments, Results results) {
  return range_of<std::int64_t>(arguments[0].as_int(), arguments[1].as_int(), 1, results);
}

Result range_step(Call, Arguments arguments, Results results) {
  return range_of(arguments[0].as_int(), arguments[1].as_int(), arguments[2].as_int(), results);
}

Result range_float(Call, Arguments arguments, Results results) {
  return range_of(arguments[0].as_float(), arguments[1].as_float(), 1.0, results);
}

Result range_float_step(Call, Arguments arguments, Results results) {
  return range_of(arguments[0].as_float(), arguments[1].as_float(), arguments[2].as_float(), results);
}

Result repr(Call, Arguments arguments, Results results) { return give(results, Value::of(vm::to_text(arguments[0]))); }

// Keeps the keys of its argument.
Result array_repr(Call, Arguments arguments, Results results) {
  std::vector<std::pair<Value, Value>> entries;
  arguments[0].as_array().for_each(
      [&](const Value& key, const Value& value) { entries.emplace_back(key, Value::of(vm::to_text(value))); });
  return give(results, Value::of_object(vm::ValueKind::array, vm::Array::keyed(std::move(entries))));
}

// The elements whose indices are listed, in the order of the indices.
Result pick_stable_integer_string(Call, Arguments arguments, Results results) {
  std::vector<Value> picked;
  for (const Value& index : elements(arguments[1])) {
    Value value = arguments[0].as_array().get(index);
    if (!value) return fail("index " + vm::to_text(index) + " is not in the array to pick from");
    picked.push_back(std::move(value));
  }
  return give(results, dense_array(std::move(picked)));
}

// The elements that match; they keep their keys.
Result pick_regexp(Call, Arguments arguments, Results results) {
  const auto pattern = Pattern::compile(arguments[0].as_string());
  if (!pattern) return fail(pattern.error());
  std::vector<std::pair<Value, Value>> entries;
  arguments[1].as_array().for_each([&](const Value& key, const Value& value) {
    if (pattern->find(value.as_string())) entries.emplace_back(key, value);
  });
  return give(results, Value::of_object(vm::ValueKind::array, vm::Array::keyed(std::move(entries))));
}

Result ternary(Call, Arguments arguments, Results results) {
  return give(results, arguments[0].as_bool() ? arguments[1] : arguments[2]);
}

}  // namespace raddle::stdlib::native
