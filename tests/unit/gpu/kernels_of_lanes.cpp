// What a GPU has of raddle_kernel.h, by threads of the host.
#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "tests/unit/gpu/kernel_forms.hpp"

namespace forms = raddle::gpu;

#define RADDLE_LANES 1
#define raddle raddle_of_lanes  // its functions are others than those of one lane
#include "tests/unit/gpu/call_kernels.hpp"
#undef raddle

namespace raddle::gpu {

static EachLane lanes(bool backwards) {
  return [backwards](const std::function<void()>& body) {
    if (const std::string fault = raddle_lanes::Lanes::run(backwards, body); !fault.empty())
      throw std::runtime_error(fault);
  };
}

KernelResults results_of_lanes(unsigned seed, std::int64_t size, bool backwards) {
  return results_of(seed, size, lanes(backwards));
}
std::int64_t status_of_lanes(const std::vector<double>& numbers, bool backwards) {
  return status_of(numbers, lanes(backwards));
}

}  // namespace raddle::gpu
