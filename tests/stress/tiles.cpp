// The C library of the bench's Cholesky factorisation without BLAS, built with the sanitizer of the rest: tiles are
// changed in place by whoever calls, so two calls that the VM did not order are a race that TSan sees.
#include "tests/bench/cholesky/tiles.hpp"

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <vector>

namespace {

struct Tile {
  std::int64_t size;
  std::vector<double> elements;  ///< column by column
  Tile* older;                   ///< all are kept until the process ends
  double& operator()(std::int64_t row, std::int64_t column) {
    return elements[static_cast<std::size_t>(column * size + row)];
  }
};

std::atomic<Tile*> newest{nullptr};

Tile& at(std::int64_t address) { return *reinterpret_cast<Tile*>(address); }

void subtract_product(Tile& a, Tile& left, Tile& right) {
  for (std::int64_t x = 0; x < a.size; ++x)
    for (std::int64_t y = 0; y < a.size; ++y)
      for (std::int64_t k = 0; k < a.size; ++k) a(y, x) -= left(y, k) * right(x, k);
}

}  // namespace

std::int64_t new_tile(std::int64_t row, std::int64_t column, std::int64_t size) {
  auto* const tile = new Tile{size, std::vector<double>(static_cast<std::size_t>(size * size)), nullptr};
  for (std::int64_t x = 0; x < size; ++x) {
    for (std::int64_t y = 0; y < size; ++y) {
      const std::int64_t distance = std::abs(row * size + y - column * size - x);
      (*tile)(y, x) = distance == 0 ? 10.0 : 1.0 / static_cast<double>(distance + 1);
    }
  }
  // relaxed, so that this orders nothing that the VM should
  for (tile->older = newest.load(std::memory_order_relaxed);
       !newest.compare_exchange_weak(tile->older, tile, std::memory_order_relaxed);) {
  }
  return reinterpret_cast<std::int64_t>(tile);
}

std::int64_t potrf(std::int64_t tile) {
  Tile& a = at(tile);
  for (std::int64_t x = 0; x < a.size; ++x) {
    for (std::int64_t y = x; y < a.size; ++y)
      for (std::int64_t k = 0; k < x; ++k) a(y, x) -= a(y, k) * a(x, k);
    a(x, x) = std::sqrt(a(x, x));
    for (std::int64_t y = x + 1; y < a.size; ++y) a(y, x) /= a(x, x);
  }
  return tile;
}

std::int64_t trsm(std::int64_t tile, std::int64_t diagonal) {
  Tile &a = at(tile), &l = at(diagonal);
  for (std::int64_t x = 0; x < a.size; ++x) {
    for (std::int64_t y = 0; y < a.size; ++y) {
      for (std::int64_t k = 0; k < x; ++k) a(y, x) -= a(y, k) * l(x, k);
      a(y, x) /= l(x, x);
    }
  }
  return tile;
}

std::int64_t syrk(std::int64_t tile, std::int64_t left) {
  subtract_product(at(tile), at(left), at(left));
  return tile;
}

std::int64_t gemm(std::int64_t tile, std::int64_t left, std::int64_t right) {
  subtract_product(at(tile), at(left), at(right));
  return tile;
}

double sum_of(std::int64_t tile) {
  double total = 0.0;
  for (const double element : at(tile).elements) total += element;
  return total;
}
