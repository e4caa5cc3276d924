#include "compiler/driver/repl/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace raddle::driver::repl {

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

struct Bounds {
  double low = 0, high = 0;
};

Bounds bounds_of(const std::vector<double>& numbers) {
  Bounds bounds{INFINITY, -INFINITY};
  for (const double number : numbers) {
    if (!std::isfinite(number)) continue;
    bounds.low = std::min(bounds.low, number);
    bounds.high = std::max(bounds.high, number);
  }
  return bounds;
}

std::string label(double number) { return fmt::format("{:.4g}", number); }

/// Each column of dots covers what the numbers of its part of the range cover, and what joins them to the part before.
void draw(Canvas& canvas, const std::vector<double>& numbers, Bounds bounds) {
  const double half = bounds.high / 2 - bounds.low / 2;  // the whole may be Inf
  const double half_span = half > 0 ? half : 1;
  const double top = static_cast<double>(canvas.height() - 1);
  const auto row_of = [&](double number) {
    const double share = std::clamp((number / 2 - bounds.low / 2) / half_span, 0.0, 1.0);
    return static_cast<std::size_t>(std::lround((1 - share) * top));
  };
  const double steps = static_cast<double>(std::max<std::size_t>(numbers.size(), 2) - 1);
  bool has_last = false;
  std::size_t last_x = 0, last_y = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (!std::isfinite(numbers[i])) {
      has_last = false;
      continue;
    }
    const auto x =
        static_cast<std::size_t>(std::lround(static_cast<double>(i) / steps * static_cast<double>(canvas.width() - 1)));
    const std::size_t y = row_of(numbers[i]);
    if (!has_last) last_x = x, last_y = y;
    const std::size_t parts = std::max<std::size_t>({x - last_x, y > last_y ? y - last_y : last_y - y, 1});
    for (std::size_t part = 0; part <= parts; ++part) {
      const double share = static_cast<double>(part) / static_cast<double>(parts);
      const auto between = [share](std::size_t from, std::size_t to) {
        return static_cast<std::size_t>(
            std::lround(static_cast<double>(from) + share * (static_cast<double>(to) - static_cast<double>(from))));
      };
      canvas.set(between(last_x, x), between(last_y, y));
    }
    last_x = x, last_y = y;
    has_last = true;
  }
}

}  // namespace

std::string plot(const std::vector<double>& numbers, const std::pair<std::string, std::string>& ends,
                 terminal::Size size) {
  const Bounds bounds = bounds_of(numbers);
  if (bounds.low > bounds.high) return "nothing to plot: there is no finite number";
  const std::string high = label(bounds.high), low = label(bounds.low);
  const std::size_t margin = std::max(high.size(), low.size());
  const std::size_t rows = std::max<std::size_t>(size.rows, 3) - 1;
  Canvas canvas(std::max<std::size_t>(size.columns, margin + 12) - margin - 2, rows);
  draw(canvas, numbers, bounds);
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

}  // namespace raddle::driver::repl
