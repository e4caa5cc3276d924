// Tiled Cholesky and LU factorisations and products of matrices.
#include <utility>

#include "tests/bench/locality/task_graph.hpp"

namespace raddle::locality {

namespace {

struct Kernel {
  std::int64_t duration_ns;
  int thirds;  ///< operations, in thirds of the cube of a tile's side
};
constexpr Kernel gemm{3'413'000, 6}, syrk{1'896'000, 3}, trsm{2'438'000, 3}, potrf{3'792'000, 1}, getrf{7'583'000, 2};
constexpr double third_of_cube = 2880.0 * 2880.0 * 2880.0 / 3;

class TileProgram {
 public:
  explicit TileProgram(int tiles) : n_(tiles), ids_(static_cast<std::size_t>(tiles) * tiles) {}
  TaskGraph cholesky();
  TaskGraph lu();
  TaskGraph product(bool has_results);
  TaskGraph product_of_tiles();

 private:
  /// Only tiles that are used are data.
  vm::DataId tile(int row, int column) {
    std::optional<vm::DataId>& id = ids_[static_cast<std::size_t>(row) * n_ + column];
    if (!id) id = graph_.add_data(tile_bytes);
    return *id;
  }
  /// @param operands  all are read, the last one is written, too
  void update(const std::vector<vm::DataId>& operands, const Kernel& kernel, int delay) {
    add_task(operands, {operands.back()}, kernel, 3 * n_ - delay);
  }
  void add_task(const std::vector<vm::DataId>& reads, const std::vector<vm::DataId>& writes, const Kernel& kernel,
                int priority) {
    graph_.add_task(reads, writes, kernel.duration_ns, priority);
    thirds_ += kernel.thirds;
  }
  TaskGraph take() {
    TaskGraph graph = graph_.take();
    graph.operations = static_cast<double>(thirds_) * third_of_cube;
    return graph;
  }

  const int n_;
  GraphBuilder graph_;
  std::int64_t thirds_ = 0;  ///< Kernel::thirds of all tasks
  std::vector<std::optional<vm::DataId>> ids_;
};

TaskGraph TileProgram::cholesky() {
  for (int k = 0; k < n_; ++k) {
    update({tile(k, k)}, potrf, 3 * k);
    for (int m = k + 1; m < n_; ++m) update({tile(k, k), tile(m, k)}, trsm, 2 * k + m);
    for (int c = k + 1; c < n_; ++c) {
      update({tile(c, k), tile(c, c)}, syrk, k + 2 * c);
      for (int m = c + 1; m < n_; ++m) update({tile(m, k), tile(c, k), tile(m, c)}, gemm, k + c + m);
    }
  }
  return take();
}

TaskGraph TileProgram::lu() {
  for (int k = 0; k < n_; ++k) {
    update({tile(k, k)}, getrf, 3 * k);
    for (int i = k + 1; i < n_; ++i) {
      update({tile(k, k), tile(i, k)}, trsm, 2 * k + i);
      update({tile(k, k), tile(k, i)}, trsm, 2 * k + i);
    }
    for (int i = k + 1; i < n_; ++i)
      for (int j = k + 1; j < n_; ++j) update({tile(k, i), tile(j, k), tile(j, i)}, gemm, k + i + j);
  }
  return take();
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
      add_task({rows[y], columns[x]}, results, gemm, 0);
    }
  return take();
}

/// C += A B, one tile of C after the other.
TaskGraph TileProgram::product_of_tiles() {
  const auto matrix = [&] {
    std::vector<vm::DataId> tiles;
    for (int i = 0; i < n_ * n_; ++i) tiles.push_back(graph_.add_data(tile_bytes));
    return tiles;
  };
  const std::vector<vm::DataId> a = matrix(), b = matrix(), c = matrix();
  for (int i = 0; i < n_; ++i)
    for (int j = 0; j < n_; ++j)
      for (int k = 0; k < n_; ++k) add_task({a[i * n_ + k], b[k * n_ + j], c[i * n_ + j]}, {c[i * n_ + j]}, gemm, 0);
  return take();
}

}  // namespace

std::optional<Program> program_of(std::string_view name) {
  if (name == "chol" || name == "cholesky") return Program::cholesky;
  if (name == "lu") return Program::lu;
  if (name == "mm") return Program::product;
  if (name == "mm-noC") return Program::product_of_inputs;
  if (name == "mm-3d") return Program::product_of_tiles;
  return std::nullopt;
}

TaskGraph graph_of(Program program, unsigned tiles) {
  TileProgram made(static_cast<int>(tiles));
  switch (program) {
    case Program::cholesky: return made.cholesky();
    case Program::lu: return made.lu();
    case Program::product: return made.product(true);
    case Program::product_of_inputs: return made.product(false);
    case Program::product_of_tiles: return made.product_of_tiles();
  }
  std::unreachable();
}

}  // namespace raddle::locality
