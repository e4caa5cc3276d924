// StarPU 1.3: tasks that are ordered by the data handles of two rows. STARPU_NCPU: how many workers.
#include <starpu.h>

#include "patterns.hpp"

namespace {

struct Point {
  const bench::Graph* graph;
  std::int64_t step;
  std::int64_t x;
  bench::Needs needs;
  double* row;
};

void compute(void*[], void* argument) {
  Point point;
  starpu_codelet_unpack_args(argument, &point);
  point.row[point.x] = point.graph->point(point.step, point.x, point.needs, point.row - point.graph->width);
}

void run(const bench::Graph& graph, double* rows) {
  starpu_codelet codelet;
  starpu_codelet_init(&codelet);
  codelet.cpu_funcs[0] = compute;
  codelet.nbuffers = STARPU_VARIABLE_NBUFFERS;
  std::vector<starpu_data_handle_t> handles(
      static_cast<std::size_t>(graph.pattern == bench::Pattern::trivial ? 0 : 2 * graph.width));
  for (starpu_data_handle_t& handle : handles) starpu_void_data_register(&handle);
  const auto element = [&](std::int64_t step, std::int64_t x) {
    return handles[static_cast<std::size_t>(step % 2 * graph.width + x)];
  };
  for (std::int64_t step = 0; step < graph.steps; ++step) {
    for (std::int64_t x = 0; x < graph.width; ++x) {
      Point point{&graph, step, x, graph.needs(step, x), rows + step * graph.width};
      starpu_data_descr data[6];
      int count = 0;
      if (!handles.empty()) data[count++] = {element(step, x), STARPU_W};
      for (int i = 0; i < point.needs.count; ++i)
        data[count++] = {element(step + 1, point.needs.elements[i]), STARPU_R};
      starpu_task_insert(&codelet, STARPU_DATA_MODE_ARRAY, data, count, STARPU_VALUE, &point, sizeof point, 0);
    }
  }
  starpu_task_wait_for_all();
  for (const starpu_data_handle_t handle : handles) starpu_data_unregister(handle);
}

}  // namespace

int main(int argc, char** argv) {
  if (starpu_init(nullptr) != 0) return 1;
  const int code = bench::run_pattern(run, argc, argv);
  starpu_shutdown();
  return code;
}
