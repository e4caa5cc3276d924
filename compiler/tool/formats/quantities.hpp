#pragma once
// Numbers, times and sizes as people read them.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace raddle::sweep {

/// The text, or the beginning of one of more than some hundred bytes, and how many it has: "aaa.. (200,000 bytes)".
std::string shortened(const std::string& text);
/// 1234567: "1,234,567"
std::string with_commas(std::uint64_t number);
/// "1 point", "1,234 points"
std::string counted(std::uint64_t number, std::string_view noun);
/// "8 s", "3 min 20 s", "2 h 5 min", "3 d 4 h"
std::string duration_text(double seconds);
/// The same with tenths below a minute: "2.8 s".
std::string seconds_text(double seconds);
/// "30s", "1.5m", "12h", "30d", "4w": a number and a unit; in seconds.
std::optional<double> read_duration(std::string_view text);
/// "700 B", "1.5 KiB", "3.2 GiB"
std::string size_text(std::uint64_t bytes);

/// "700", "512k", "500M", "2G", "1T": in bytes.
std::optional<double> read_size(std::string_view text);

}  // namespace raddle::sweep
