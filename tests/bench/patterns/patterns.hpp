#pragma once
// Task Bench's patterns, for each library of tasks: `PROGRAM PATTERN WIDTH STEPS ITERATIONS` prints what patterns.df
// prints: the sum of the last row. (.6f: in whatever order it is summed.) Each element of a row is a task that needs
// elements of the row before. All rows are kept, as in the script.
//
//   trivial     none
//   stencil_1d  itself and its neighbours
//   nearest     itself and two neighbours on either side
//   fft         itself and two at a distance of 1, 2, 4 .. WIDTH / 2, another in each row
//   tree        the one with half its number
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <string_view>
#include <vector>

namespace bench {

/// Elements of the row before; in place of one that is outside of the row the element itself.
struct Needs {
  int count = 0;
  std::int64_t elements[5];
};

enum class Pattern { trivial, stencil_1d, nearest, fft, tree };

inline std::optional<Pattern> pattern_of(std::string_view name) {
  constexpr std::string_view names[] = {"trivial", "stencil_1d", "nearest", "fft", "tree"};  // in the enum's order
  const auto* const found = std::find(std::begin(names), std::end(names), name);
  if (found == std::end(names)) return {};
  return static_cast<Pattern>(found - std::begin(names));
}

struct Graph {
  Pattern pattern;
  std::int64_t width;  ///< a power of two
  std::int64_t steps;
  std::int64_t iterations;

  std::int64_t size() const { return width * steps; }

  Needs needs(std::int64_t step, std::int64_t x) const {
    if (step == 0) return {};
    switch (pattern) {
      case Pattern::trivial: return {};
      case Pattern::stencil_1d: return {3, {within(x, x - 1), x, within(x, x + 1)}};
      case Pattern::nearest: return {5, {within(x, x - 2), within(x, x - 1), x, within(x, x + 1), within(x, x + 2)}};
      case Pattern::fft: {
        const std::int64_t distance = std::int64_t{1} << step % std::countr_zero(static_cast<std::uint64_t>(width));
        return {3, {within(x, x - distance), x, within(x, x + distance)}};
      }
      case Pattern::tree: return {1, {x / 2}};
    }
    std::abort();
  }

  /// What a task computes: the logistic map from the mean of what it needs.
  double point(std::int64_t step, std::int64_t x, const Needs& needs, const double* before) const {
    double inputs = step == 0 ? 0.5 : 1.0 / static_cast<double>(step);
    if (needs.count > 0) {
      inputs = before[needs.elements[0]];
      for (int i = 1; i < needs.count; ++i) inputs += before[needs.elements[i]];
      inputs /= needs.count;
    }
    double y = 0.5 * (inputs + static_cast<double>(x + 1) / static_cast<double>(width + 1));
    for (std::int64_t i = 0; i < iterations; ++i) y = 3.9 * y * (1.0 - y);
    return y;
  }

 private:
  std::int64_t within(std::int64_t x, std::int64_t other) const { return other < 0 || other >= width ? x : other; }
};

/// @param run   computes all rows, which lie one after the other
inline int run_pattern(void (*run)(const Graph& graph, double* rows), int argc, char** argv) {
  const std::optional<Pattern> pattern = argc == 5 ? pattern_of(argv[1]) : std::nullopt;
  if (!pattern) {
    std::fprintf(stderr, "usage: %s PATTERN WIDTH STEPS ITERATIONS\n", argv[0]);
    return 2;
  }
  const Graph graph{*pattern, std::atoll(argv[2]), std::atoll(argv[3]), std::atoll(argv[4])};
  std::vector<double> rows(static_cast<std::size_t>(graph.size()));
  run(graph, rows.data());
  std::printf("%.6f\n", std::accumulate(rows.end() - graph.width, rows.end(), 0.0));
  return 0;
}

}  // namespace bench
