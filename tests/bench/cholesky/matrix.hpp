#pragma once
// The lower half of a matrix of tiles: `PROGRAM TILES SIZE` prints what cholesky.df prints.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "tiles.hpp"

namespace bench {

class Matrix {
 public:
  explicit Matrix(std::int64_t tiles) : tiles_(tiles), slots_(static_cast<std::size_t>(tiles * tiles)) {}
  std::int64_t tiles() const { return tiles_; }
  /// The tile's address once it is made.
  std::int64_t& at(std::int64_t row, std::int64_t column) {
    return slots_[static_cast<std::size_t>(row * tiles_ + column)];
  }

 private:
  std::int64_t tiles_;
  std::vector<std::int64_t> slots_;
};

/// @param factorise   makes the tiles and factorises the matrix
inline int run_cholesky(void (*factorise)(Matrix& matrix, std::int64_t size), int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s TILES SIZE\n", argv[0]);
    return 2;
  }
  Matrix matrix(std::atoll(argv[1]));
  factorise(matrix, std::atoll(argv[2]));
  double sum = 0.0;
  for (std::int64_t i = 0; i < matrix.tiles(); ++i) {
    for (std::int64_t j = 0; j <= i; ++j) sum += sum_of(matrix.at(i, j));
  }
  std::printf("%.9e\n", sum);
  return 0;
}

}  // namespace bench
