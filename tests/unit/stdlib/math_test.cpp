#include <cmath>
#include <limits>

#include "tests/unit/stdlib/call.hpp"

using raddle::test::call_overload;
using raddle::test::error;
using raddle::test::list;
using raddle::test::Outcome;
using raddle::test::real;
using raddle::test::result;
using raddle::test::shown;
using raddle::test::text;
using raddle::test::Value;
using raddle::test::whole;

namespace {
constexpr double infinity = std::numeric_limits<double>::infinity(),
                 not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
}  // namespace

TEST_CASE("rounding") {
  CHECK(result("round", {real(2.5)}) == "3.0");
  CHECK(result("round", {real(-0.5)}) == "-1.0");
  CHECK(result("floor", {real(-1.5)}) == "-2.0");
  CHECK(result("ceil", {real(-1.5)}) == "-1.0");
  CHECK(result("float2int", {real(-2.9)}) == "-2");
  CHECK(error("float2int", {real(1e19)}) == "1e+19 is no 64-bit integer");
  CHECK(error("float2int", {real(not_a_number)}) == "NaN is no 64-bit integer");
  CHECK(result("float2int", {real(-0x1p63)}) == "-9223372036854775808");
}

TEST_CASE("domain errors; NaN in, NaN out") {
  CHECK(error("sqrt", {real(-1)}) == "domain error: sqrt(-1.0)");
  CHECK(error("log", {real(-1)}) == "domain error: log(-1.0)");
  CHECK(error("asin", {real(2)}) == "domain error: asin(2.0)");
  CHECK(error("pow_float", {real(-8), real(0.5)}) == "domain error: pow(-8.0, 0.5)");
  CHECK(result("log", {real(0)}) == "-Inf");
  CHECK(result("exp", {real(1000)}) == "Inf");
  CHECK(result("sqrt", {real(not_a_number)}) == "NaN");
  CHECK(result("sqrt", {real(infinity)}) == "Inf");
}

TEST_CASE("values") {
  CHECK(result("cbrt", {real(-8)}) == "-2.0");
  CHECK(result("atan2", {real(0), real(-1)}) == "3.141592653589793");
  CHECK(shown(call_overload(1, "log", {real(8), real(2)}).results[0]) == "3.0");
  CHECK(result("pow", {whole(2), whole(-1)}) == "0.5");
  CHECK(result("max", {whole(-3), whole(2)}) == "2");
  CHECK(result("max_float", {real(not_a_number), real(1)}) == "NaN");
  CHECK(result("min_float", {real(1), real(not_a_number)}) == "NaN");
  CHECK(result("min_float", {real(1), real(-infinity)}) == "-Inf");
  CHECK(result("abs", {whole(-3)}) == "3");
  CHECK(error("abs", {whole(lowest)}) == "integer overflow");
  CHECK(result("is_nan", {real(not_a_number)}) == "1");
  CHECK(result("xor", {Value::of(true), Value::of(false)}) == "1");
}

TEST_CASE("stats") {
  const Value ints = list({whole(1), whole(2), whole(3), whole(4)}), floats = list({real(0.1), real(0.2), real(0.3)});
  CHECK(result("sum", {ints}) == "10");
  CHECK(result("sum_float", {floats}) == "0.6");  // the exact sum, rounded once
  CHECK(result("sum_integer", {list({})}) == "0");
  CHECK(result("sum_float", {list({real(infinity), real(1)})}) == "Inf");
  CHECK(error("sum_integer", {list({whole(lowest), whole(-1)})}) == "integer overflow");
  CHECK(result("avg", {ints}) == "2.5");
  CHECK(result("std", {ints}) == "1.118033988749895");
  CHECK(error("avg", {list({})}) == "an empty array has no mean");
  CHECK(shown(call_overload(1, "max", {real(1), real(2)}).results[0]) == "2.0");
  CHECK(shown(call_overload(2, "max", {ints}).results[0]) == "4");
  CHECK(shown(call_overload(3, "min", {floats}).results[0]) == "0.1");
  const Outcome whole_data = call_overload(0, "statagg", {ints});
  CHECK(shown(whole_data.results[0]) == "4");
  CHECK(shown(whole_data.results[2]) == "5.0");
  const Outcome combined = call_overload(0, "combine_moments",
                                         {list({whole(2), whole(0), whole(2)}), list({real(1.5), real(0), real(3.5)}),
                                          list({real(0.5), real(0), real(0.5)})});
  CHECK(shown(combined.results[0]) == "4");
  CHECK(shown(combined.results[1]) == "2.5");
  CHECK(shown(combined.results[2]) == "1.118033988749895");
}

TEST_CASE("arrays") {
  CHECK(result("range", {whole(2), whole(5)}) == "[2|3|4|5]");
  CHECK(result("range", {whole(2), whole(1)}) == "[]");
  CHECK(result("range_step", {whole(0), whole(5), whole(2)}) == "[0|2|4]");
  CHECK(result("range_step", {whole(5), whole(0), whole(-1)}) == "[5|4|3|2|1|0]");
  CHECK(error("range_step", {whole(0), whole(5), whole(0)}) == "the step of a range is 0");
  CHECK(error("range", {whole(lowest), whole(0)}) ==
        "the range has too many elements for an array: a `foreach` over it needs none");
  CHECK(result("range_float_step", {real(0), real(1), real(0.25)}) == "[0.0|0.25|0.5|0.75|1.0]");
  CHECK(error("range_float", {real(0), real(infinity)}) ==
        "the range has too many elements for an array: a `foreach` over it needs none");
  CHECK(result("size", {list({whole(1)})}) == "1");
  CHECK(result("contains", {list({whole(7)}), whole(0)}) == "1");
  CHECK(result("contains", {list({whole(7)}), whole(1)}) == "0");
  CHECK(result("keys_integer", {list({text("a"), text("b")})}) == "[0|1]");
  CHECK(result("pick_stable_integer_string", {list({text("a"), text("b")}), list({whole(1), whole(0)})}) == "[b|a]");
  CHECK(error("pick_integer_string", {list({text("a")}), list({whole(3)})}) ==
        "index 3 is not in the array to pick from");
  CHECK(result("array_repr", {list({real(1), real(2)})}) == "[1.0|2.0]");
}

TEST_CASE("assertions") {
  CHECK(error("assert", {Value::of(false), text("why")}) == "Assertion failed!: why");
  CHECK(error("assert", {Value::of(true), text("why")}) == "");
  CHECK(error("assertEqual", {whole(1), whole(2), text("msg")}) == "Assertion failed 1 != 2: msg");
  CHECK(error("assertEqual", {text("1.0"), text("1"), text("msg")}) == "");
  CHECK(error("assertEqual", {text("a"), text("b"), text("msg")}) == "Assertion failed a != b: msg");
  CHECK(error("assertLT", {real(1), real(1), text("m")}) == "Assertion failed 1.0 >= 1.0: m");
  CHECK(error("assertLTE", {real(1), real(1), text("m")}) == "");
  CHECK(error("assertLTE", {real(not_a_number), real(1), text("m")}) != "");
}
