#include "tiles.hpp"

#include <cblas.h>

#include <cstdlib>
#include <numeric>
#include <vector>

extern "C" void dpotrf_(const char* half, const int* size, double* a, const int* stride, int* problem);  // LAPACK

namespace {

struct Tile {
  int size;
  std::vector<double> elements;  ///< column by column
};

Tile& at(std::int64_t address) { return *reinterpret_cast<Tile*>(address); }

}  // namespace

std::int64_t new_tile(std::int64_t row, std::int64_t column, std::int64_t size) {
  auto* const tile = new Tile{static_cast<int>(size), {}};  // until the process ends
  tile->elements.reserve(static_cast<std::size_t>(size * size));
  for (std::int64_t x = column * size; x < (column + 1) * size; ++x) {
    for (std::int64_t y = row * size; y < (row + 1) * size; ++y)
      tile->elements.push_back(x == y ? 10.0 : 1.0 / static_cast<double>(std::abs(x - y) + 1));
  }
  return reinterpret_cast<std::int64_t>(tile);
}

std::int64_t potrf(std::int64_t tile) {
  Tile& a = at(tile);
  int problem = 0;
  dpotrf_("L", &a.size, a.elements.data(), &a.size, &problem);
  if (problem != 0) std::abort();
  return tile;
}

std::int64_t trsm(std::int64_t tile, std::int64_t diagonal) {
  Tile& a = at(tile);
  cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, a.size, a.size, 1.0,
              at(diagonal).elements.data(), a.size, a.elements.data(), a.size);
  return tile;
}

std::int64_t syrk(std::int64_t tile, std::int64_t left) {
  Tile& a = at(tile);
  cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, a.size, a.size, -1.0, at(left).elements.data(), a.size, 1.0,
              a.elements.data(), a.size);
  return tile;
}

std::int64_t gemm(std::int64_t tile, std::int64_t left, std::int64_t right) {
  Tile& a = at(tile);
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, a.size, a.size, a.size, -1.0, at(left).elements.data(), a.size,
              at(right).elements.data(), a.size, 1.0, a.elements.data(), a.size);
  return tile;
}

double sum_of(std::int64_t tile) {
  const std::vector<double>& elements = at(tile).elements;
  return std::accumulate(elements.begin(), elements.end(), 0.0);
}
