// One thread, no tasks.
#include "matrix.hpp"

namespace {

void factorise(bench::Matrix& matrix, std::int64_t size) {
  for (std::int64_t i = 0; i < matrix.tiles(); ++i) {
    for (std::int64_t j = 0; j <= i; ++j) matrix.at(i, j) = new_tile(i, j, size);
  }
  for (std::int64_t k = 0; k < matrix.tiles(); ++k) {
    potrf(matrix.at(k, k));
    for (std::int64_t i = k + 1; i < matrix.tiles(); ++i) {
      trsm(matrix.at(i, k), matrix.at(k, k));
      syrk(matrix.at(i, i), matrix.at(i, k));
      for (std::int64_t j = k + 1; j < i; ++j) gemm(matrix.at(i, j), matrix.at(i, k), matrix.at(j, k));
    }
  }
}

}  // namespace

int main(int argc, char** argv) { return bench::run_cholesky(factorise, argc, argv); }
