#include "compiler/tool/terminal/plot.hpp"

#include <doctest/doctest.h>

#include <cmath>

using raddle::terminal::plot;
using raddle::terminal::PlotPoint;

namespace {

/// 13 characters of dots a row, three rows: 26 x 12 dots.
constexpr raddle::terminal::Size small = {16, 4};

std::string blank(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += "\u2800";
  return text;
}

}  // namespace

TEST_CASE("the lowest and the highest point stand in the corners") {
  const std::vector<PlotPoint> points = {{2, 0}, {4, 1}};
  CHECK(plot(points, /*joined=*/false, {"a", "b"}, small) == "1 \u2502" + blank(12) + "\u2808\n  \u2502" + blank(13) +
                                                                 "\n0 \u2502\u2840" + blank(12) + "\n  a" +
                                                                 std::string(12, ' ') + "b");
}

TEST_CASE("a curve has no gap, but where a number is missing") {
  const std::string line = plot({{0, 1}, {1, 1}, {2, 1}}, /*joined=*/true, {"", ""}, small);
  std::string bottom;  // one value: there is no higher one, so it lies at the bottom
  for (int i = 0; i < 13; ++i) bottom += "\u28C0";
  CHECK(line.contains("1 \u2502" + bottom + "\n"));
  const std::string broken = plot({{0, 1}, {1, std::nan("")}, {2, 1}}, /*joined=*/true, {"", ""}, small);
  CHECK(broken.contains("\u2840" + blank(11) + "\u2880\n"));
}

TEST_CASE("numbers that are not finite are no points") {
  CHECK(plot({{0, INFINITY}, {NAN, 1}}, false, {"", ""}, small) == "nothing to plot: there is no finite number");
  CHECK(plot({}, false, {"", ""}, small) == "nothing to plot: there is no finite number");
  CHECK(plot({{0, -1e308}, {1, 1e308}}, false, {"", ""}, {30, 4}).starts_with(" 1e+308 \u2502"));
}
