#include "stdlib/native/elements.hpp"

namespace raddle::stdlib::native {

using vm::Value;
using vm::ValueKind;

ValueKind element_kind(const Value& array) {
  const Value first = array.as_array().get(Value::of(std::int64_t{0}));
  ValueKind kind = first.kind();
  if (!first) array.as_array().for_each([&](const Value&, const Value& value) { kind = value.kind(); });
  return kind;
}

std::vector<double> numbers(const Value& array) {
  std::vector<double> values;
  values.reserve(array.as_array().size());
  if (element_kind(array) == ValueKind::int_) {
    visit_numbers<std::int64_t>(array, [&](std::int64_t value) { values.push_back(static_cast<double>(value)); });
  } else {
    visit_numbers<double>(array, [&](double value) { values.push_back(value); });
  }
  return values;
}

}  // namespace raddle::stdlib::native
