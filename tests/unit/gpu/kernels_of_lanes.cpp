// What a GPU has of raddle_kernel.h, by threads of the host.
#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <type_traits>

#include "tests/unit/gpu/kernel_forms.hpp"
#include "tests/unit/gpu/lane_threads.hpp"

namespace forms = raddle::gpu;

static int __nvvm_read_ptx_sreg_laneid() { return forms::LaneThreads::lane(); }
static void __nvvm_bar_warp_sync(unsigned) { forms::LaneThreads::sync(); }
static int __nvvm_shfl_sync_bfly_i32(unsigned, int word, int mask, int) {
  return forms::LaneThreads::exchanged(word, mask);
}
#define __NVPTX__ 1
#define raddle raddle_of_lanes  // its functions are others than those of one lane
#include "tests/unit/gpu/call_kernels.hpp"
#undef raddle
#undef __NVPTX__

namespace raddle::gpu {

static EachLane lanes(bool backwards) {
  return [backwards](const std::function<void()>& body) { LaneThreads::run(backwards, body); };
}

KernelResults results_of_lanes(unsigned seed, std::int64_t size, bool backwards) {
  return results_of(seed, size, lanes(backwards));
}
std::int64_t status_of_lanes(const std::vector<double>& numbers, bool backwards) {
  return status_of(numbers, lanes(backwards));
}

}  // namespace raddle::gpu
