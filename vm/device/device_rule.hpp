#pragma once
// Which part of a launch goes to devices.
#include <cstdint>

#include "vm/device/devices.hpp"

namespace raddle::vm {

/// What is known of a launch and its kernel.
struct LaunchOutlook {
  std::int64_t points = 0;     ///< that nobody has begun yet
  std::int64_t worker_ns = 0;  ///< that a point takes on a worker; 0: not known
  std::int64_t device_ps = 0;  ///< picoseconds that a point has taken of a batch on the devices; 0: not known
  unsigned workers = 1;
};

/// Whether the launch lasts so long that it is worth while to get code for devices.
bool is_worth_code(const DeviceCosts& costs, const LaunchOutlook& launch);

/// The device is a thief: it gets a piece that takes it some milliseconds, and never more than its share of what is
/// left, so that neither side waits for the other at the end. A piece is worth twenty times what handing it over costs.
/// A device that is slower than a worker gets nothing more.
/// @return how many points, 0 for none
std::int64_t points_for_devices(const DeviceCosts& costs, const LaunchOutlook& launch);

}  // namespace raddle::vm
