#include "compiler/tool/space/values.hpp"

#include <doctest/doctest.h>

using raddle::sweep::Values;
using raddle::sweep::ValueType;

namespace {

std::string all(const std::string& text) {
  const auto values = Values::parse(text, 0);
  if (!values) return "error: " + values.error().message;
  std::string joined;
  for (std::uint64_t i = 0; i < values->size(); ++i) joined += (i == 0 ? "" : " ") + values->at(i);
  return joined;
}

/// What is wrong, and the part of the word that is underlined.
std::pair<std::string, std::string> fault(const std::string& text) {
  const auto values = Values::parse(text, 0);
  REQUIRE(!values);
  return {values.error().message, text.substr(values.error().begin, values.error().end - values.error().begin)};
}

using Fault = std::pair<std::string, std::string>;

}  // namespace

TEST_CASE("a list's values are as they are written") {
  CHECK(all("1,2,3") == "1 2 3");
  CHECK(all("01,1.50,-2,1e-3") == "01 1.50 -2 1e-3");
  CHECK(all("small,large") == "small large");
  CHECK(all("a b,x=y") == "a b x=y");
  CHECK(all("one\\,two,three") == "one,two three");
  CHECK(all("host:80,http://x") == "host:80 http://x");
  CHECK(all("5\\:7") == "5:7");
}

TEST_CASE("quotes as in CSV make texts") {
  CHECK(all("\"a,b\",\"1:3\"") == "a,b 1:3");
  CHECK(all("\"\"") == "");
  CHECK(all("\"say \"\"hi\"\"\" , y\"z") == "say \"hi\" y\"z");
  CHECK(Values::parse("\"1\",2", 0)->type() == ValueType::string);
  CHECK(Values::parse("\"1\",2", 0)->cell_type() == raddle::sweep::CellType::string);
  CHECK(Values::parse("1,7e013608", 0)->cell_type() == raddle::sweep::CellType::string);
  CHECK(fault("x,\"a,b") == Fault{"the quotes do not end with the value", "\"a,b"});
  CHECK(fault("{\"x\":1,\"y\":2}") == Fault{"the quotes do not end with the value", "\"y\":2}"});
}

TEST_CASE("a range has both ends, in decimal") {
  CHECK(all("1:4") == "1 2 3 4");
  CHECK(all("0:1:0.25") == "0 0.25 0.5 0.75 1");
  CHECK(all("0:0.3:0.1") == "0 0.1 0.2 0.3");
  CHECK(all("3:1:-1") == "3 2 1");
  CHECK(all("-0.2:0.2:0.1") == "-0.2 -0.1 0 0.1 0.2");
  CHECK(all("0:5:2") == "0 2 4");
  CHECK(all("1e-3:3e-3:1e-3") == "0.001 0.002 0.003");
  CHECK(all("7:7") == "7");
  CHECK(all("1:3,10,20:30:10") == "1 2 3 10 20 30");
  CHECK(Values::parse("0:1000000000:1", 0)->size() == 1000000001);
}

TEST_CASE("a range is counted exactly, to both ends of the ints") {
  CHECK(all("9007199254740993:9007199254740994") == "9007199254740993 9007199254740994");
  CHECK(all("9223372036854775806:9223372036854775807") == "9223372036854775806 9223372036854775807");
  CHECK(all("-9223372036854775808:9223372036854775807:9223372036854775807") ==
        "-9223372036854775808 -1 9223372036854775806");
  CHECK(all("-9223372036854775807:-9223372036854775808:-1") == "-9223372036854775807 -9223372036854775808");
  CHECK(all("123456789.0123456:123456789.0123459:0.0000001") ==
        "123456789.0123456 123456789.0123457 123456789.0123458 123456789.0123459");
  CHECK(all("-0.000000000000002:-0.000000000000001:1e-15") == "-0.000000000000002 -0.000000000000001");
  CHECK(all("9007199254740992.5:9007199254740994:0.5") ==
        "9007199254740992.5 9007199254740993 9007199254740993.5 9007199254740994");
  CHECK(all("0e300:0") == "0");
  CHECK(fault("9223372036854775807:9223372036854775808") ==
        Fault{"a range of ints goes from -9223372036854775808 to 9223372036854775807", "9223372036854775808"});
  CHECK(fault("9007199254740994:9007199254740993") ==
        Fault{"the range is empty: 9007199254740993 is below 9007199254740994", "9007199254740994:9007199254740993"});
  CHECK(fault("1e29:1.000000000000001e29:1e15") ==
        Fault{"a range of ints goes from -9223372036854775808 to 9223372036854775807", "1e29"});
  CHECK(fault("1e29:1e29:0.5") == Fault{"a range counts with at most 30 digits", "1e29"});
}

TEST_CASE("lin and log have the floats that are nearest to their values in decimal, and none beyond the largest") {
  CHECK(all("lin(-1e308,1e308,3)") == "-1e+308 0 1e+308");
  CHECK(all("log(1e-300,1e300,3)") == "1e-300 1 1e+300");
  CHECK(all("log(1e300,1e-300,3)") == "1e+300 1 1e-300");
  CHECK(all("lin(0,123456789012345,2)") == "0 123456789012345");
  CHECK(all("lin(0,1,4)") == "0 0.3333333333333333 0.6666666666666666 1");
  CHECK(all("lin(0,1,11)") == "0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1");
  CHECK(all("lin(-0.3,0.3,7)") == "-0.3 -0.2 -0.1 0 0.1 0.2 0.3");
  CHECK(all("lin(-0.1,0.3,5)") == "-0.1 0 0.1 0.2 0.3");
  CHECK(all("lin(0.7,0.1,7)") == "0.7 0.6 0.5 0.4 0.3 0.2 0.1");
  CHECK(all("lin(0,123456789012345,3)") == "0 61728394506172.5 123456789012345");
  CHECK(all("lin(1e-300,1e300,3)") == "1e-300 5e+299 1e+300");
  CHECK(all("lin(0,5e-324,2)") == "0 5e-324");
  CHECK(Values::parse("lin(0,1,1000000000000000)", 0)->at(1) == "1.000000000000001e-15");
  CHECK(Values::parse("lin(0,1,1000000000000000)", 0)->at(333333333333333) == "0.3333333333333333");
  CHECK(all("log(1,10,3)") == "1 3.1622776601683795 10");
  CHECK(all("log(0.1,0.3,3)") == "0.1 0.17320508075688773 0.3");
  CHECK(all("log(1e-9,1e9,19)") ==
        "1e-09 1e-08 1e-07 1e-06 1e-05 0.0001 0.001 0.01 0.1 1 10 100 1000 10000 100000 1000000 10000000 100000000 "
        "1000000000");
  CHECK(all("log(2,1024,10)") == "2 4 8 16 32 64 128 256 512 1024");
  CHECK(all("log(5e-324,1.7976931348623157e308,2)") == "5e-324 1.7976931348623157e+308");
  CHECK(all("lin(123456789,123456789.000004,5)") ==
        "123456789 123456789.000001 123456789.000002 123456789.000003 123456789.000004");
  CHECK(fault("lin(0,9007199254740993,3)") ==
        Fault{"the last value `9007199254740993` can not be kept exactly: as a float it is 9007199254740992",
              "9007199254740993"});
  CHECK(fault("log(0.123456789012345678,1,3)").second == "0.123456789012345678");
}

TEST_CASE("lin and log have both ends") {
  CHECK(all("lin(0,1,5)") == "0 0.25 0.5 0.75 1");
  CHECK(all("lin(2,2,1)") == "2");
  CHECK(all("log(1e-4,1e-1,4)") == "0.0001 0.001 0.01 0.1");
  CHECK(all("log(100,1,3)") == "100 10 1");
  CHECK(all("0,log(1,100,3)") == "0 1 10 100");
}

TEST_CASE("the type is what all values can be read as") {
  CHECK(Values::parse("1,2", 0)->type() == ValueType::int_);
  CHECK(Values::parse("1:3", 0)->type() == ValueType::int_);
  CHECK(Values::parse("1,2.5", 0)->type() == ValueType::float_);
  CHECK(Values::parse("0:1:0.5", 0)->type() == ValueType::float_);
  CHECK(Values::parse("lin(0,1,3)", 0)->type() == ValueType::float_);
  CHECK(Values::parse("lin(0,10,11)", 0)->type() == ValueType::int_);
  CHECK(Values::parse("1,x", 0)->type() == ValueType::string);
}

TEST_CASE("one value has one canonical text") {
  using raddle::sweep::canonical_text;
  for (const char* one : {"1", "+1", "1.0", "1e0", "0.1e1"}) CHECK(canonical_text(one) == "1");
  CHECK(canonical_text("1e16") == canonical_text("10000000000000000"));
  CHECK(canonical_text("9007199254740993") != canonical_text("9007199254740992"));
  CHECK(canonical_text("9007199254740993", ValueType::float_) == canonical_text("9007199254740992"));
  CHECK(canonical_text("0.50") == canonical_text("5e-1"));
  CHECK(canonical_text("-0.0") != canonical_text("0"));
  CHECK(canonical_text("1.0", ValueType::string) == "1.0");
  CHECK(canonical_text("x") == "x");
  CHECK(canonical_text("") == "");
}

TEST_CASE("errors of values mark what is wrong") {
  CHECK(fault("1,,2") == Fault{"a value is missing", ""});
  CHECK(fault("1,,2") == Fault{"a value is missing", ""});
  CHECK(Values::parse("1,,2", 2).error().begin == 4);
  CHECK(fault("") == Fault{"a value is missing", ""});
  CHECK(fault("1:x") == Fault{"the range's last value `x` is no number", "x"});
  CHECK(fault("1:") == Fault{"the range's last value is missing", ""});
  CHECK(fault(":4") == Fault{"the range's first value is missing", ""});
  CHECK(fault("1:4:y") == Fault{"the range's step `y` is no number", "y"});
  CHECK(fault("1:4:0") == Fault{"the range's step is 0", "0"});
  CHECK(fault("1:4:1:1") == Fault{"a range has no fourth part", "1"});
  CHECK(fault("2,4:1") == Fault{"the range is empty: 1 is below 4", "4:1"});
  CHECK(fault("1:4:-1") == Fault{"the range is empty: 4 is above 1", "1:4:-1"});
  CHECK(fault("0:1e300") == Fault{"the range has too many values", "0:1e300"});
  CHECK(fault("0:1:1e-20") == Fault{"a range counts in at most 15 decimals", "1e-20"});
  CHECK(fault("log(0,1,3)") == Fault{"`log` goes from a positive value to a positive one", "0"});
  CHECK(fault("log(1,2)") == Fault{"`log` takes three values, not 2", "log(1,2)"});
  CHECK(fault("lin(0,1,0)") == Fault{"the count `0` is no whole number from 1 on", "0"});
  CHECK(fault("lin(0,1,2.5)") == Fault{"the count `2.5` is no whole number from 1 on", "2.5"});
  CHECK(fault("lin(0,1,1)") == Fault{"a single value can not be both ends", "1"});
  CHECK(fault("lin(0,q,3)") == Fault{"the last value `q` is no number", "q"});
  CHECK(fault("1,ln(0,1,3)") == Fault{"there is no `ln`", "ln"});
  CHECK(fault("U(0,1)") == Fault{"`U` is a distribution, not a list of values", "U(0,1)"});
}
