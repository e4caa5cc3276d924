// Assertions: what fails ends the run.
#include <fmt/format.h>

#include "stdlib/native/functions.hpp"
#include "stdlib/native/parse_number.hpp"
#include "vm/value/text.hpp"

namespace raddle::stdlib::native {
namespace {

using vm::Value;

// -1, 0, 1 for two values of one kind; strings that look like numbers compare as numbers, as in Tcl. Else 2: NaN.
int compare(const Value& a, const Value& b) {
  const auto order = [](auto x, auto y) { return x < y ? -1 : x > y ? 1 : x == y ? 0 : 2; };
  if (a.kind() == vm::ValueKind::float_) return order(a.as_float(), b.as_float());
  if (a.kind() != vm::ValueKind::string) return order(a.as_int(), b.as_int());  // int, boolean
  const auto x = read_float(a.as_string()), y = read_float(b.as_string());
  return x && y ? order(*x, *y) : order(a.as_string().compare(b.as_string()), 0);
}

Result check(Call call, bool holds, const char* opposite, Arguments arguments, Results results) {
  if (holds || !call.settings.asserts) return give_void(results);
  return fail(fmt::format("Assertion failed {} {} {}: {}", vm::to_text(arguments[0]), opposite,
                          vm::to_text(arguments[1]), arguments[2].as_string()));
}

}  // namespace

Result assert_(Call call, Arguments arguments, Results results) {
  if (arguments[0].as_bool() || !call.settings.asserts) return give_void(results);
  return fail("Assertion failed!: " + arguments[1].as_string());
}

/// Of what a function of the library is given: no setting makes it pass.
Result expect(Call, Arguments arguments, Results results) {
  return arguments[0].as_bool() ? give(results, arguments[0]) : fail(std::string(arguments[1].as_string()));
}

Result assert_equal(Call call, Arguments arguments, Results results) {
  return check(call, compare(arguments[0], arguments[1]) == 0, "!=", arguments, results);
}

Result assert_less(Call call, Arguments arguments, Results results) {
  return check(call, compare(arguments[0], arguments[1]) == -1, ">=", arguments, results);
}

Result assert_not_greater(Call call, Arguments arguments, Results results) {
  const int order = compare(arguments[0], arguments[1]);
  return check(call, order == -1 || order == 0, ">", arguments, results);
}

}  // namespace raddle::stdlib::native
