#include "compiler/tool/formats/quantities.hpp"

#include <doctest/doctest.h>

using namespace raddle::sweep;

TEST_CASE("times and sizes are read with their units") {
  CHECK(read_duration("90s") == 90);
  CHECK(read_duration("1.5m") == 90);
  CHECK(read_duration("12h") == 12 * 3600);
  CHECK(read_duration("2w") == 14 * 86400);
  for (const char* text : {"", "90", "s", "-1s", "5 m", "1y", "nans"}) CHECK(!read_duration(text));
  CHECK(read_size("700") == 700);
  CHECK(read_size("2G") == 2147483648.0);
  CHECK(!read_size("2g"));
}

TEST_CASE("a number and what it counts") {
  CHECK(counted(1, "point") == "1 point");
  CHECK(counted(0, "point") == "0 points");
  CHECK(counted(1234, "run") == "1,234 runs");
}
