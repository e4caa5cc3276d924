#include "tests/unit/gpu/kernel_forms.hpp"

namespace forms = raddle::gpu;
#include "tests/unit/gpu/call_kernels.hpp"

namespace raddle::gpu {

constexpr auto one_lane = [](const std::function<void()>& body) { body(); };

KernelResults results_of_one_lane(unsigned seed, std::int64_t size) { return results_of(seed, size, one_lane); }
std::int64_t status_of_one_lane(const std::vector<double>& numbers) { return status_of(numbers, one_lane); }

}  // namespace raddle::gpu
