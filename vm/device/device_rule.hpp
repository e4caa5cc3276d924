#pragma once
// Which part of a launch goes to devices.
#include <cstdint>

#include "vm/device/devices.hpp"

namespace raddle::vm {

/// As long as nobody knows better: so many times what a worker takes for a point a lane of a busy device does.
inline constexpr std::int64_t lane_slowness = 64;

/// What is known of a launch and its kernel.
struct LaunchOutlook {
  std::int64_t points = 0;   ///< of a range that nobody has begun yet, or of a whole launch
  double worker_ns = 0;      ///< that a point takes on a worker; 0: not known
  std::int64_t wave_ns = 0;  ///< that a device takes for as many points as it has lanes, or for one; 0: not known
  std::int64_t lanes = 1;    ///< of a device, for this kernel
  double workers = 1;        ///< that will share the points of this range, on average
};

/// What a device takes for so many points, if it takes `spent_ns` for `count`: fewer than it has lanes take it as long
/// as all lanes do.
std::int64_t wave_ns_of(std::int64_t spent_ns, std::int64_t count, std::int64_t lanes);

/// What a device takes for so many points, about, by what it has shown or by workers; 0: not known.
/// @param launch  `points` are those of the batch
std::int64_t expected_ns_of(const LaunchOutlook& launch);

/// Whether the launch lasts so long that it is worth while to get code for devices: twice as long as that takes.
bool is_worth_code(const DeviceCosts& costs, const LaunchOutlook& launch);

/// The device is a thief. It gets a point for each of its lanes, or a piece that takes it some milliseconds if that is
/// more; and never so many that the workers would have done with what is left long before it. A piece is worth twenty
/// times what handing it over costs. A device that is slower than a worker when it is full gets nothing more.
///
/// As long as nobody knows it, by lane_slowness the device gets one wave, or what is worth the handing over if that is
/// more.
/// @return how many points, 0 for none
std::int64_t points_for_devices(const DeviceCosts& costs, const LaunchOutlook& launch);

}  // namespace raddle::vm
