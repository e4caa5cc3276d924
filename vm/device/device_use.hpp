#pragma once
// What came of devices in a run: for `--stats`.
#include <cstdint>
#include <string>
#include <vector>

#include "vm/device/devices.hpp"
#include "vm/value/failure.hpp"

namespace raddle::vm {

struct DeviceUse {
  std::string name;
  std::uint64_t batches = 0, points = 0;  ///< of loops
  std::uint64_t calls = 0;                ///< of AppKernels, and single ones of leaf functions
  DeviceTraffic traffic{};
};
/// What of a script devices compute, or leave to workers: points of a loop, calls of an AppKernel, single calls of a
/// function.
enum class DevicePart : std::uint8_t { loop, app_kernel, function };
struct DeviceShare {
  CallPlace place;  ///< of the loop, or of the function's declaration
  DevicePart part = DevicePart::loop;
  std::string function = {};            ///< whose single calls
  std::vector<std::uint64_t> computed;  ///< by device: points or calls
};
/// What was computed is in a count for each device, as many as have been needed.
inline void add_computed(std::vector<std::uint64_t>& by_device, unsigned device, std::int64_t computed) {
  if (device >= by_device.size()) by_device.resize(device + 1);
  by_device[device] += static_cast<std::uint64_t>(computed);
}

/// Why something stays on workers.
struct Obstacle {
  std::string text;       ///< in words for the user, behind what is in the way if that is known; "": there is none
  std::string name = {};  ///< what is in the way; "": what stands at the place
  std::vector<Place> path = {};  ///< where it is, and the calls that lead there, innermost first
  bool is_builtin = false;       ///< `name` is of the library, which may know more than `text` says
  bool empty() const { return text.empty(); }
};
struct DeviceObstacle {
  CallPlace place;  ///< as a DeviceShare's, as what follows
  Obstacle why;
  DevicePart part = DevicePart::loop;
  std::string function = {};
  bool is_placed = false;  ///< `@gpu`, of which it was not known when the script was compiled
};

inline constexpr const char* blamed_text = "devices fail when they compute it";

}  // namespace raddle::vm
