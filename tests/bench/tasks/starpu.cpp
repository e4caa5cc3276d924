// StarPU 1.3: tasks with data handles, as its users write them. It has no nested tasks to wait for: no fib, no split.
// STARPU_NCPU: how many workers.
#include <starpu.h>

#include <vector>

#include "cases.hpp"

namespace {

void step_in_place(void* buffers[], void*) {
  auto* x = reinterpret_cast<std::int64_t*>(STARPU_VARIABLE_GET_PTR(buffers[0]));
  *x = bench::step(*x);
}

starpu_codelet step_codelet() {
  starpu_codelet codelet;
  starpu_codelet_init(&codelet);
  codelet.cpu_funcs[0] = step_in_place;
  codelet.nbuffers = 1;
  codelet.modes[0] = STARPU_RW;
  return codelet;
}

void register_variable(starpu_data_handle_t& handle, std::int64_t& x) {
  starpu_variable_data_register(&handle, STARPU_MAIN_RAM, reinterpret_cast<std::uintptr_t>(&x), sizeof x);
}

std::int64_t flat(std::int64_t count) {
  starpu_codelet codelet = step_codelet();
  std::vector<std::int64_t> values(static_cast<std::size_t>(count));
  std::vector<starpu_data_handle_t> handles(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<std::int64_t>(i);
    register_variable(handles[i], values[i]);
    starpu_task_insert(&codelet, STARPU_RW, handles[i], 0);
  }
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    starpu_data_unregister(handles[i]);
    sum += values[i];
  }
  return sum;
}

std::int64_t chain(std::int64_t count) {
  starpu_codelet codelet = step_codelet();
  std::int64_t x = 0;
  starpu_data_handle_t handle;
  register_variable(handle, x);
  for (std::int64_t i = 0; i < count; ++i) starpu_task_insert(&codelet, STARPU_RW, handle, 0);
  starpu_data_unregister(handle);
  return x;
}

}  // namespace

int main(int argc, char** argv) {
  if (starpu_init(nullptr) != 0) return 1;
  const int code = bench::run_case({{"flat", flat}, {"chain", chain}}, argc, argv);
  starpu_shutdown();
  return code;
}
