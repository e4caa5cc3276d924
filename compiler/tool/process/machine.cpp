#include "compiler/tool/process/machine.hpp"

#include <sched.h>

#include <algorithm>
#include <thread>

namespace raddle::tool {

unsigned core_count() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
  return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace raddle::tool
