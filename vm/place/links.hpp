#pragma once
// What a transfer takes.
#include <cstdint>

namespace raddle::vm {

/// Links of the host and its devices: bytes per second, all devices alike.
struct Links {
  std::int64_t to_device = 0, to_host = 0;
  std::int64_t between_devices = 0;  ///< 0: a device gets everything from the host
  std::int64_t latency_ns = 0;

  /// Rounded up. @param speed  one of those above
  std::int64_t transfer_ns(std::int64_t bytes, std::int64_t speed) const {
    const __int128 scaled = __int128{bytes} * 1'000'000'000;
    return latency_ns + static_cast<std::int64_t>((scaled + speed - 1) / speed);
  }
};

}  // namespace raddle::vm
