// Tiled Cholesky and LU factorisations and products of matrices.
#include <utility>

#include "tests/bench/locality/task_graph.hpp"

namespace raddle::locality {

namespace {

constexpr std::int64_t gemm_ns = 3'413'000, syrk_ns = 1'896'000, trsm_ns = 2'438'000, potrf_ns = 3'792'000,
                       getrf_ns = 7'583'000;

class TileProgram {
 public:
  explicit TileProgram(int tiles) : n_(tiles), ids_(static_cast<std::size_t>(tiles) * tiles) {}
  TaskGraph cholesky();
  TaskGraph lu();
  TaskGraph product(bool has_results);

 private:
  /// Only tiles that are used are data.
  vm::DataId tile(int row, int column) {
    std::optional<vm::DataId>& id = ids_[static_cast<std::size_t>(row) * n_ + column];
    if (!id) id = graph_.add_data(tile_bytes);
    return *id;
  }
  /// @param operands  all are read, the last one is written, too
  void update(const std::vector<vm::DataId>& operands, std::int64_t duration_ns, int delay) {
    graph_.add_task(operands, {operands.back()}, duration_ns, 3 * n_ - delay);
  }

  const int n_;
  GraphBuilder graph_;
  std::vector<std::optional<vm::DataId>> ids_;
};

TaskGraph TileProgram::cholesky() {
  for (int k = 0; k < n_; ++k) {
    update({tile(k, k)}, potrf_ns, 3 * k);
    for (int m = k + 1; m < n_; ++m) update({tile(k, k), tile(m, k)}, trsm_ns, 2 * k + m);
    for (int c = k + 1; c < n_; ++c) {
      update({tile(c, k), tile(c, c)}, syrk_ns, k + 2 * c);
      for (int m = c + 1; m < n_; ++m) update({tile(m, k), tile(c, k), tile(m, c)}, gemm_ns, k + c + m);
    }
  }
  return graph_.take();
}

TaskGraph TileProgram::lu() {
  for (int k = 0; k < n_; ++k) {
    update({tile(k, k)}, getrf_ns, 3 * k);
    for (int i = k + 1; i < n_; ++i) {
      update({tile(k, k), tile(i, k)}, trsm_ns, 2 * k + i);
      update({tile(k, k), tile(k, i)}, trsm_ns, 2 * k + i);
    }
    for (int i = k + 1; i < n_; ++i)
      for (int j = k + 1; j < n_; ++j) update({tile(k, i), tile(j, k), tile(j, i)}, gemm_ns, k + i + j);
  }
  return graph_.take();
}

/// Each input is a row or column of tiles that is loaded as one tile is.
TaskGraph TileProgram::product(bool has_results) {
  std::vector<vm::DataId> rows, columns;
  for (int i = 0; i < n_; ++i) {
    rows.push_back(graph_.add_data(tile_bytes));
    columns.push_back(graph_.add_data(tile_bytes));
  }
  for (int x = 0; x < n_; ++x)
    for (int y = 0; y < n_; ++y) {
      std::vector<vm::DataId> results;
      if (has_results) results.push_back(graph_.add_data(tile_bytes));
      graph_.add_task({rows[y], columns[x]}, results, gemm_ns, 0);
    }
  return graph_.take();
}

}  // namespace

std::optional<Program> program_of(std::string_view name) {
  if (name == "chol" || name == "cholesky") return Program::cholesky;
  if (name == "lu") return Program::lu;
  if (name == "mm") return Program::product;
  if (name == "mm-noC") return Program::product_of_inputs;
  return std::nullopt;
}

TaskGraph graph_of(Program program, unsigned tiles) {
  TileProgram made(static_cast<int>(tiles));
  switch (program) {
    case Program::cholesky: return made.cholesky();
    case Program::lu: return made.lu();
    case Program::product: return made.product(true);
    case Program::product_of_inputs: return made.product(false);
  }
  std::unreachable();
}

}  // namespace raddle::locality
