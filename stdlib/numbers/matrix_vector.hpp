#pragma once
// Products of a matrix and a vector: own code, which takes as long as memory does to bring the matrix, and gives the
// same bits with any library and on any processor. Matrices lie row by row; of float32 they come to what they would
// widened. Threads: any.
#include <cstddef>

namespace raddle::stdlib::native {

/// y = a x: a of [rows, columns]. The terms of a row are added in an order that depends on `columns` alone: in eight
/// sums, and these pairwise.
void multiply_by_column(const double* a, const double* x, std::size_t rows, std::size_t columns, double* y);
void multiply_by_column(const float* a, const double* x, std::size_t rows, std::size_t columns, double* y);

/// y = x a: a of [rows, columns]. The terms of a column are added in the order of the rows.
void multiply_row(const double* x, const double* a, std::size_t rows, std::size_t columns, double* y);
void multiply_row(const double* x, const float* a, std::size_t rows, std::size_t columns, double* y);

}  // namespace raddle::stdlib::native
