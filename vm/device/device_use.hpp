#pragma once
// What came of devices in a run: for `--stats`.
#include <cstdint>
#include <string>

#include "vm/value/failure.hpp"

namespace raddle::vm {

struct DeviceUse {
  std::string name;
  std::uint64_t batches = 0, points = 0;
};
struct DeviceObstacle {
  Place place;       ///< of the loop
  std::string text;  ///< why its points did not go
};

}  // namespace raddle::vm
