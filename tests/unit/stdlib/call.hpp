#pragma once
// Calls library functions by name as the VM does.
#include <doctest/doctest.h>

#include <future>
#include <string>
#include <vector>

#include "stdlib/builtins.hpp"
#include "vm/external/outside.hpp"
#include "vm/value/array.hpp"
#include "vm/value/text.hpp"

namespace raddle::test {

using vm::Value;

inline Value text(const char* value) { return Value::of(std::string(value)); }
inline Value whole(std::int64_t value) { return Value::of(value); }
inline Value real(double value) { return Value::of(value); }
inline Value list(std::vector<Value> values) {
  return Value::of_object(vm::ValueKind::array, vm::Array::dense(std::move(values)));
}

/// Waits where the VM would go on with other work.
class WaitingHost final : public vm::BuiltinHost {
 public:
  vm::BuiltinCompletion end_later() override {
    outcome_ = ended_.get_future();
    return [this](vm::BuiltinOutcome outcome, std::int32_t) { ended_.set_value(std::move(outcome)); };
  }
  vm::Outside& outside() override { return outside_; }
  std::int32_t rank() const override { return 0; }
  bool ends_later() const { return outcome_.valid(); }
  vm::BuiltinOutcome wait() { return outcome_.get(); }

 private:
  std::promise<vm::BuiltinOutcome> ended_;
  std::future<vm::BuiltinOutcome> outcome_;
  vm::Outside outside_{{.programs = 1}, {}, 1};  // last: its threads end before what they call back
};

struct Outcome {
  std::vector<Value> results;
  std::string error;
};

/// @param overload  which of the functions of this name
inline Outcome call_overload(std::size_t overload, std::string_view name, std::vector<Value> arguments,
                             const vm::RunSettings& settings = {}, std::uint64_t stream = 0) {
  for (const stdlib::Builtin& builtin : stdlib::builtins()) {
    if (builtin.name != name || overload-- > 0) continue;
    Outcome outcome;
    outcome.results.resize(3);
    WaitingHost host;
    const auto done = builtin.function({settings, stream, &host}, arguments, outcome.results);
    if (!done) outcome.error = done.error();
    if (!host.ends_later()) return outcome;
    vm::BuiltinOutcome later = host.wait();
    if (!later) return {{}, later.error()};
    return {std::move(*later), {}};
  }
  FAIL("no function " << std::string(name));
  return {};
}

inline Value call(std::string_view name, std::vector<Value> arguments) {
  const Outcome outcome = call_overload(0, name, std::move(arguments));
  CHECK(outcome.error == "");
  return outcome.results[0];
}

/// The first result as text; an array as its elements in brackets: [a|b].
inline std::string shown(const Value& value) {
  if (value.kind() != vm::ValueKind::array) return vm::to_text(value);
  std::string all;
  value.as_array().for_each([&](const Value&, const Value& element) {
    all +=
        (all.empty() ? "" : "|") +
        (element.kind() == vm::ValueKind::string && element.as_string().empty() ? std::string("''") : shown(element));
  });
  return "[" + all + "]";
}
inline std::string result(std::string_view name, std::vector<Value> arguments) {
  return shown(call(name, std::move(arguments)));
}
inline std::string error(std::string_view name, std::vector<Value> arguments) {
  return call_overload(0, name, std::move(arguments)).error;
}

}  // namespace raddle::test
