#include "compiler/tool/sweep/statistics.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>

using namespace raddle::sweep;

namespace {

/// "mean std n min max sum"
std::string all(std::initializer_list<std::string> results) {
  Summary summary;
  for (const std::string& result : results) {
    REQUIRE(is_counted(result));
    summary.add(result);
  }
  std::string text;
  for (const std::string& name : statistic_names()) text += summary.text(*statistic_named(name)) + ' ';
  return text.substr(0, text.size() - 1);
}

}  // namespace

TEST_CASE("statistics of a few numbers") {
  CHECK(all({"1", "2", "6"}) == "3 2.6457513110645907 3 1 6 9");
  CHECK(all({"0.5", "1", "1.5"}) == "1 0.5 3 0.5 1.5 3");
  CHECK(all({"true", "false", "true", "true"}) == "0.75 0.5 4 0 1 3");
  CHECK(all({}) == "  0   ");
  CHECK(all({"7"}) == "7  1 7 7 7");
}

TEST_CASE("infinities and NaN count") {
  CHECK(all({"-1", "inf", "1"}) == "inf nan 3 -1 inf inf");
  CHECK(all({"-Infinity", "inf"}) == "nan nan 2 -inf inf nan");
  CHECK(all({"1", "NaN", "2"}) == "nan nan 3 nan nan nan");
  CHECK(all({"-nan"}) == "nan  1 nan nan nan");
  CHECK(!is_counted("x"));
  CHECK(!is_counted("7e013608"));
}

TEST_CASE("large ints lose nothing") {
  CHECK(all({"9223372036854775807", "9223372036854775807", "9223372036854775805"}) ==
        "9.223372036854776e+18 1.1547005383792517 3 9223372036854775805 9223372036854775807 27670116110564327419");
  CHECK(all({"9007199254740993", "9007199254740993"}) ==
        "9007199254740992 0 2 9007199254740993 9007199254740993 18014398509481986");
  CHECK(all({"-9223372036854775808", "9223372036854775807"}) ==
        "-0.5 1.3043817825332783e+19 2 -9223372036854775808 9223372036854775807 -1");
  CHECK(all({"1700000000000000000.0", "1700000000000000256.0", "1700000000000000512.0"}).substr(0, 27) ==
        "1.7000000000000003e+18 256 ");
}
