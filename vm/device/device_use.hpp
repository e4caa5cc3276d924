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
/// Why something stays on workers.
struct Obstacle {
  std::string text;       ///< in words for the user, behind what is in the way if that is known; "": there is none
  std::string name = {};  ///< what is in the way; "": what stands at the place
  std::vector<Place> path = {};  ///< where it is, and the calls that lead there, innermost first
  bool is_builtin = false;       ///< `name` is of the library, which may know more than `text` says
  bool empty() const { return text.empty(); }
};
struct DeviceObstacle {
  enum class Kind : std::uint8_t { loop, app_kernel, function };
  CallPlace place;  ///< of the loop, or of the function's declaration
  Obstacle why;
  Kind kind = Kind::loop;
  std::string function = {};  ///< whose single calls stay
};

inline constexpr const char* blamed_text = "devices fail when they compute it";

}  // namespace raddle::vm
