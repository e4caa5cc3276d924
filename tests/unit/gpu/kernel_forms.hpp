// The library's AppKernels in both forms: as workers run them, and by 32 lanes.
#pragma once
#include <cstdint>
#include <vector>

namespace raddle::gpu {

/// What calls have filled, and what each has returned.
struct KernelResults {
  std::vector<double> numbers;
  std::vector<std::int64_t> whole, statuses;
  bool operator==(const KernelResults&) const = default;
};

/// Calls each kernel of the library, with random arrays of extents up to `size`.
KernelResults results_of_one_lane(unsigned seed, std::int64_t size);
/// @param backwards  the last lane comes first
KernelResults results_of_lanes(unsigned seed, std::int64_t size, bool backwards);

/// Of a kernel in which only the lane returns 7 that has a negative number: what its call returns.
std::int64_t status_of_one_lane(const std::vector<double>& numbers);
std::int64_t status_of_lanes(const std::vector<double>& numbers, bool backwards);

}  // namespace raddle::gpu
