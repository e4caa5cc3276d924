#include "vm/value/text.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "vm/value/array.hpp"
#include "vm/value/structure.hpp"

using raddle::vm::float32_of_text;
using raddle::vm::float32_text;
using raddle::vm::float_text;
using raddle::vm::index_text;
using raddle::vm::to_text;
using raddle::vm::Value;

TEST_CASE("floats read back and always look like floats") {
  CHECK(float_text(1.0) == "1.0");
  CHECK(float_text(0.1) == "0.1");
  CHECK(float_text(1.0 / 3.0) == "0.3333333333333333");
  CHECK(float_text(-0.0) == "-0.0");
  CHECK(float_text(100.0) == "100.0");
  CHECK(float_text(123.456) == "123.456");
  CHECK(float_text(1e16) == "10000000000000000.0");
  CHECK(float_text(1e17) == "1e+17");
  CHECK(float_text(1.5e20) == "1.5e+20");
  CHECK(float_text(0.0001) == "0.0001");
  CHECK(float_text(1e-5) == "1e-5");
  CHECK(float_text(-2.5e-7) == "-2.5e-7");
  CHECK(float_text(INFINITY) == "Inf");
  CHECK(float_text(-INFINITY) == "-Inf");
  CHECK(float_text(NAN) == "NaN");
  for (const double value : {std::numeric_limits<double>::max(), std::numeric_limits<double>::min(), 2.0 / 7.0})
    CHECK(std::stod(float_text(value)) == value);
}

TEST_CASE("floats of 32 bits read back to the same ones") {
  CHECK(float32_text(0.1F) == "0.1");
  CHECK(float32_text(1.0F / 3) == "0.33333334");
  CHECK(float32_text(16777216.0F) == "16777216.0");
  CHECK(float32_text(3.4028235e38F) == "3.4028235e+38");
  CHECK(float32_text(-0.0F) == "-0.0");
  CHECK(float32_of_text("0.1") == 0.1F);
  CHECK(float32_of_text("1e-50") == 0.0F);
  CHECK_FALSE(float32_of_text("1e39").has_value());
  CHECK(to_text(Value::of_float32(0.1F)) == "0.1");
  CHECK(to_text(Value::of_int32(-7)) == "-7");
}

TEST_CASE("scalars, arrays and structures as text") {
  using raddle::vm::Array;
  CHECK(to_text(Value::of(std::int64_t{-7})) == "-7");
  CHECK(to_text(Value::of(true)) == "1");
  CHECK(to_text(Value::of(std::string("a b"))) == "a b");
  const Value numbers = Value::of_object(raddle::vm::ValueKind::array,
                                         Array::dense({Value::of(std::int64_t{5}), Value::of(std::int64_t{6})}));
  CHECK(to_text(numbers) == "0 5 1 6");
  const std::vector<std::string> names{"name", "age"};
  auto person = raddle::vm::make_ref<raddle::vm::Structure>(names);
  raddle::vm::WakeList nobody;
  person->field(0).set(Value::of(std::string("Bob")), nobody);
  person->field(1).set(Value::of(std::int64_t{100}), nobody);
  CHECK(to_text(Value::of_object(raddle::vm::ValueKind::structure, person)) == "name Bob age 100");
}

TEST_CASE("indices of an element by its place") {
  const auto text = [](std::vector<std::int64_t> extents, std::int64_t place) {
    return index_text(extents, Value::of(place));
  };
  CHECK(text({4}, 3) == "3");
  CHECK(text({2, 3}, 5) == "1, 2");
  CHECK(text({2, 3, 4}, 12) == "1, 0, 0");
  CHECK(text({0, 3}, 0) == "0");  // there are no places
  CHECK(text({3, 0}, 2) == "2");
}
