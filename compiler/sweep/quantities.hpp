#pragma once
// Numbers, times and sizes as people read them.
#include <cstdint>
#include <string>

namespace raddle::sweep {

/// 1234567: "1,234,567"
std::string with_commas(std::uint64_t number);
/// "8 s", "3 min 20 s", "2 h 5 min", "3 d 4 h"
std::string duration_text(double seconds);
/// "700 B", "1.5 KiB", "3.2 GiB"
std::string size_text(std::uint64_t bytes);

}  // namespace raddle::sweep
