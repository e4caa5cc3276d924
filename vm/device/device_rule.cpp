#include "vm/device/device_rule.hpp"

#include <algorithm>

namespace raddle::vm {

namespace {

constexpr std::int64_t worth = 20;            ///< times what a batch costs beside its points
constexpr std::int64_t piece_ns = 5'000'000;  ///< that a piece takes on a device

/// Of nanoseconds, without overflow.
double time_of(const LaunchOutlook& launch, std::int64_t points) {
  return static_cast<double>(points) * static_cast<double>(launch.worker_ns);
}

}  // namespace

bool is_worth_code(const DeviceCosts& costs, const LaunchOutlook& launch) {
  return time_of(launch, launch.points) / launch.workers >= static_cast<double>(costs.start_ns) &&
         launch.worker_ns != 0;
}

std::int64_t points_for_devices(const DeviceCosts& costs, const LaunchOutlook& launch) {
  if (launch.worker_ns == 0) return 0;
  const std::int64_t least = (worth * costs.batch_ns + launch.worker_ns - 1) / launch.worker_ns;
  std::int64_t points = least, share = launch.points / 2;
  if (launch.device_ps != 0) {
    const double device = 1e3 / static_cast<double>(launch.device_ps);  // points in a nanosecond
    const double workers = static_cast<double>(launch.workers) / static_cast<double>(launch.worker_ns);
    if (device * launch.workers < workers) return 0;
    points = std::max(least, static_cast<std::int64_t>(static_cast<double>(piece_ns) * device));
    share = static_cast<std::int64_t>(static_cast<double>(launch.points) * device / (device + workers));
  }
  points = std::min(points, share);
  return points < least ? 0 : points;
}

}  // namespace raddle::vm
