#include "tests/bench/locality/lower_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace raddle::locality {

namespace {

/// Between two times when the memory was filled anew, so many updates are done as its tiles allow.
double bound_by_segments(double compulsory, double updates, double updates_per_load, double memory, unsigned devices) {
  return std::max(compulsory, updates / updates_per_load - 2 * memory * devices);
}

LowerBounds bounds_of_product(double n, double memory) {
  LowerBounds bounds{.compulsory = 2 * n, .leading = n * n / std::max(1.0, memory - 1)};
  bounds.proved = std::max(bounds.compulsory, std::ceil(bounds.leading));
  return bounds;
}

LowerBounds bounds_of_cholesky(double n, double memory, unsigned devices) {
  LowerBounds bounds{.compulsory = n * (n + 1) / 2, .leading = n * n * n / (3 * std::sqrt(2.0) * std::sqrt(memory))};
  bounds.proved = bound_by_segments(bounds.compulsory, (n * n * n - n) / 6, std::sqrt(memory / 2), memory, devices);
  return bounds;
}

LowerBounds bounds_of_lu(double n, double memory, unsigned devices) {
  LowerBounds bounds{.compulsory = n * n, .leading = 2 * n * n * n / (3 * std::sqrt(memory))};
  const double updates = (n - 1) * n * (2 * n - 1) / 6;
  bounds.proved = bound_by_segments(bounds.compulsory, updates, std::sqrt(memory) / 2, memory, devices);
  return bounds;
}

LowerBounds bounds_of_tiles(double n, double memory, unsigned devices) {
  LowerBounds bounds{.compulsory = 3 * n * n, .leading = 2 * n * n * n / std::sqrt(memory)};
  bounds.proved = bound_by_segments(bounds.compulsory, n * n * n, std::sqrt(memory) / 2, memory, devices);
  return bounds;
}

LowerBounds bounds_of(Program program, double n, double memory, unsigned devices) {
  switch (program) {
    case Program::cholesky: return bounds_of_cholesky(n, memory, devices);
    case Program::lu: return bounds_of_lu(n, memory, devices);
    case Program::product:
    case Program::product_of_inputs: return bounds_of_product(n, memory);
    case Program::product_of_tiles: return bounds_of_tiles(n, memory, devices);
  }
  std::unreachable();
}

}  // namespace

LowerBounds lower_bounds(Program program, unsigned tiles, std::int64_t memory_tiles, unsigned devices) {
  LowerBounds bounds = bounds_of(program, tiles, static_cast<double>(memory_tiles), devices);
  bounds.usual = std::max(bounds.compulsory, bounds.leading);
  return bounds;
}

}  // namespace raddle::locality
