#pragma once
// What came of devices in a run: for `--stats`.
#include <cstdint>
#include <string>

#include "vm/device/devices.hpp"
#include "vm/value/failure.hpp"

namespace raddle::vm {

struct DeviceUse {
  std::string name;
  std::uint64_t batches = 0, points = 0;  ///< of loops
  std::uint64_t calls = 0;                ///< of AppKernels, and single ones of leaf functions
  DeviceTraffic traffic{};
};
struct DeviceObstacle {
  enum class Kind : std::uint8_t { loop, app_kernel, leaf };
  Place place;       ///< of the loop, or of the function's declaration
  std::string text;  ///< why it did not go
  Kind kind = Kind::loop;
};

inline constexpr const char* blamed_text = "devices fail when they compute it";

}  // namespace raddle::vm
