// OpenMP tasks with `depend`: libgomp with g++, LLVM's libomp with clang++.
#include "matrix.hpp"

namespace {

void factorise(bench::Matrix& matrix, std::int64_t size) {
#pragma omp parallel
#pragma omp single
  {
    for (std::int64_t i = 0; i < matrix.tiles(); ++i) {
      for (std::int64_t j = 0; j <= i; ++j) {
        std::int64_t* const tile = &matrix.at(i, j);
#pragma omp task firstprivate(tile, i, j, size) depend(out : *tile)
        *tile = new_tile(i, j, size);
      }
    }
    for (std::int64_t k = 0; k < matrix.tiles(); ++k) {
      std::int64_t* const diagonal = &matrix.at(k, k);
#pragma omp task firstprivate(diagonal) depend(inout : *diagonal)
      potrf(*diagonal);
      for (std::int64_t i = k + 1; i < matrix.tiles(); ++i) {
        std::int64_t* const left = &matrix.at(i, k);
        std::int64_t* const next = &matrix.at(i, i);
#pragma omp task firstprivate(left, diagonal) depend(inout : *left) depend(in : *diagonal)
        trsm(*left, *diagonal);
#pragma omp task firstprivate(next, left) depend(inout : *next) depend(in : *left)
        syrk(*next, *left);
        for (std::int64_t j = k + 1; j < i; ++j) {
          std::int64_t* const tile = &matrix.at(i, j);
          std::int64_t* const right = &matrix.at(j, k);
#pragma omp task firstprivate(tile, left, right) depend(inout : *tile) depend(in : *left, *right)
          gemm(*tile, *left, *right);
        }
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) { return bench::run_cholesky(factorise, argc, argv); }
