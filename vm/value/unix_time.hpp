#pragma once
#include <chrono>

namespace raddle::vm {

/// Seconds since 1970, as records have them.
inline double unix_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace raddle::vm
