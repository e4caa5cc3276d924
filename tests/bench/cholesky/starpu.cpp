// StarPU 1.3: a data handle for each tile. STARPU_NCPU: how many workers.
#include <starpu.h>

#include "matrix.hpp"

namespace {

std::int64_t& tile_of(void* buffer) { return *reinterpret_cast<std::int64_t*>(STARPU_VARIABLE_GET_PTR(buffer)); }

starpu_codelet codelet_of(void (*function)(void**, void*), std::initializer_list<starpu_data_access_mode> modes) {
  starpu_codelet codelet;
  starpu_codelet_init(&codelet);
  codelet.cpu_funcs[0] = function;
  for (const starpu_data_access_mode mode : modes) codelet.modes[codelet.nbuffers++] = mode;
  return codelet;
}

void make(void* tiles[], void* argument) {
  std::int64_t row, column, size;
  starpu_codelet_unpack_args(argument, &row, &column, &size);
  tile_of(tiles[0]) = new_tile(row, column, size);
}

void factorise(bench::Matrix& matrix, std::int64_t size) {
  starpu_codelet make_tile = codelet_of(make, {STARPU_W});
  starpu_codelet potrf_tile = codelet_of([](void* tiles[], void*) { potrf(tile_of(tiles[0])); }, {STARPU_RW});
  starpu_codelet trsm_tile =
      codelet_of([](void* tiles[], void*) { trsm(tile_of(tiles[0]), tile_of(tiles[1])); }, {STARPU_RW, STARPU_R});
  starpu_codelet syrk_tile =
      codelet_of([](void* tiles[], void*) { syrk(tile_of(tiles[0]), tile_of(tiles[1])); }, {STARPU_RW, STARPU_R});
  starpu_codelet gemm_tile =
      codelet_of([](void* tiles[], void*) { gemm(tile_of(tiles[0]), tile_of(tiles[1]), tile_of(tiles[2])); },
                 {STARPU_RW, STARPU_R, STARPU_R});
  const std::int64_t tiles = matrix.tiles();
  std::vector<starpu_data_handle_t> handles(static_cast<std::size_t>(tiles * tiles));
  const auto at = [&](std::int64_t i, std::int64_t j) -> starpu_data_handle_t& {
    return handles[static_cast<std::size_t>(i * tiles + j)];
  };
  for (std::int64_t i = 0; i < tiles; ++i) {
    for (std::int64_t j = 0; j <= i; ++j) {
      starpu_variable_data_register(&at(i, j), STARPU_MAIN_RAM, reinterpret_cast<std::uintptr_t>(&matrix.at(i, j)),
                                    sizeof(std::int64_t));
      starpu_task_insert(&make_tile, STARPU_W, at(i, j), STARPU_VALUE, &i, sizeof i, STARPU_VALUE, &j, sizeof j,
                         STARPU_VALUE, &size, sizeof size, 0);
    }
  }
  for (std::int64_t k = 0; k < tiles; ++k) {
    starpu_task_insert(&potrf_tile, STARPU_RW, at(k, k), 0);
    for (std::int64_t i = k + 1; i < tiles; ++i) {
      starpu_task_insert(&trsm_tile, STARPU_RW, at(i, k), STARPU_R, at(k, k), 0);
      starpu_task_insert(&syrk_tile, STARPU_RW, at(i, i), STARPU_R, at(i, k), 0);
      for (std::int64_t j = k + 1; j < i; ++j)
        starpu_task_insert(&gemm_tile, STARPU_RW, at(i, j), STARPU_R, at(i, k), STARPU_R, at(j, k), 0);
    }
  }
  for (std::int64_t i = 0; i < tiles; ++i) {
    for (std::int64_t j = 0; j <= i; ++j) starpu_data_unregister(at(i, j));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (starpu_init(nullptr) != 0) return 1;
  const int code = bench::run_cholesky(factorise, argc, argv);
  starpu_shutdown();
  return code;
}
