#include "compiler/tool/terminal/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace raddle::terminal {

namespace {

constexpr std::size_t dots_across = 2, dots_down = 4;

/// Dots of Unicode's Braille patterns, by column and row of the character.
constexpr std::uint8_t dot_bits[dots_across][dots_down] = {{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}};

class Canvas {
 public:
  Canvas(std::size_t columns, std::size_t rows) : columns_(columns), rows_(rows), cells_(columns * rows) {}
  std::size_t width() const { return columns_ * dots_across; }
  std::size_t height() const { return rows_ * dots_down; }
  void set(std::size_t x, std::size_t y) {
    cells_[y / dots_down * columns_ + x / dots_across] |= dot_bits[x % dots_across][y % dots_down];
  }
  /// U+2800 and the bits, as UTF-8.
  std::string row(std::size_t number) const {
    std::string text;
    for (std::size_t i = 0; i < columns_; ++i) {
      const std::uint8_t bits = cells_[number * columns_ + i];
      text += {'\xE2', static_cast<char>(0xA0 | bits >> 6), static_cast<char>(0x80 | (bits & 0x3F))};
    }
    return text;
  }

 private:
  std::size_t columns_, rows_;
  std::vector<std::uint8_t> cells_;
};

/// Of the finite points, in one direction.
struct Bounds {
  double low = INFINITY, high = -INFINITY;

  void add(double number) {
    low = std::min(low, number);
    high = std::max(high, number);
  }
  /// Where it lies: 0 is low, 1 is high.
  double share(double number) const {
    const double half = high / 2 - low / 2;  // the whole may be Inf
    return half > 0 ? std::clamp((number / 2 - low / 2) / half, 0.0, 1.0) : 0;
  }
};

bool is_finite(const PlotPoint& point) { return std::isfinite(point.x) && std::isfinite(point.y); }

std::string label(double number) { return fmt::format("{:.4g}", number); }

struct Dot {
  std::size_t x = 0, y = 0;
};

/// Of `count` dots.
std::size_t dot_at(double share, std::size_t count) {
  return static_cast<std::size_t>(std::lround(share * static_cast<double>(count - 1)));
}

std::size_t distance(std::size_t a, std::size_t b) { return a < b ? b - a : a - b; }

std::size_t between(std::size_t from, std::size_t to, double share) {
  return static_cast<std::size_t>(
      std::lround(static_cast<double>(from) + share * (static_cast<double>(to) - static_cast<double>(from))));
}

void draw_line(Canvas& canvas, Dot from, Dot to) {
  const std::size_t parts = std::max<std::size_t>({distance(from.x, to.x), distance(from.y, to.y), 1});
  for (std::size_t part = 0; part <= parts; ++part) {
    const double share = static_cast<double>(part) / static_cast<double>(parts);
    canvas.set(between(from.x, to.x, share), between(from.y, to.y, share));
  }
}

void draw(Canvas& canvas, const std::vector<PlotPoint>& points, bool joined, Bounds across, Bounds up) {
  Dot last;
  bool has_last = false;
  for (const PlotPoint& point : points) {
    if (!is_finite(point)) {
      has_last = false;
      continue;
    }
    const Dot dot{dot_at(across.share(point.x), canvas.width()), dot_at(1 - up.share(point.y), canvas.height())};
    draw_line(canvas, joined && has_last ? last : dot, dot);
    last = dot;
    has_last = true;
  }
}

}  // namespace

std::string plot(const std::vector<PlotPoint>& points, bool joined, const std::pair<std::string, std::string>& ends,
                 Size size) {
  Bounds across, up;
  for (const PlotPoint& point : points) {
    if (!is_finite(point)) continue;
    across.add(point.x);
    up.add(point.y);
  }
  if (up.low > up.high) return "nothing to plot: there is no finite number";
  const std::string high = label(up.high), low = label(up.low);
  const std::size_t margin = std::max(high.size(), low.size());
  const std::size_t rows = std::max<std::size_t>(size.rows, 3) - 1;
  Canvas canvas(std::max<std::size_t>(size.columns, margin + 12) - margin - 2, rows);
  draw(canvas, points, joined, across, up);
  std::string text;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::string& beside = row == 0 ? high : row + 1 == rows ? low : "";
    text += fmt::format("{:>{}} \u2502{}\n", beside, margin, canvas.row(row));
  }
  const std::size_t width = canvas.width() / dots_across;
  const auto& [first, last] = ends;
  // both at their ends; a line too short for that has them side by side
  const std::size_t gap = width + 1 > first.size() + last.size() ? width + 1 - first.size() - last.size() : 1;
  return text + std::string(margin + 1, ' ') + first + std::string(gap, ' ') + last;
}

}  // namespace raddle::terminal
