#pragma once

namespace raddle::tool {

/// As `raddle --version` prints it; a part of what the record knows a call by.
inline constexpr const char* version = "raddle 0.1.0";

}  // namespace raddle::tool
