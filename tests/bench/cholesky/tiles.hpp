#pragma once
// Square tiles of a symmetric matrix, and what a tiled Cholesky factorisation does to them: functions of a C library,
// for the script and for all that it is compared with. A tile is known by its address, which every function gives back
// for the tile that it has changed: to a script that is the new value.
#include <cstdint>

extern "C" {
std::int64_t new_tile(std::int64_t row, std::int64_t column, std::int64_t size);
std::int64_t potrf(std::int64_t tile);                                        ///< its factor
std::int64_t trsm(std::int64_t tile, std::int64_t diagonal);                  ///< tile * diagonal^-T
std::int64_t syrk(std::int64_t tile, std::int64_t left);                      ///< tile - left * left^T
std::int64_t gemm(std::int64_t tile, std::int64_t left, std::int64_t right);  ///< tile - left * right^T
double sum_of(std::int64_t tile);
}
