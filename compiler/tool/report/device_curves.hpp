#pragma once
// What a report draws of devices: bytes on their links and in their memory, over time.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "vm/record/run_record.hpp"

namespace raddle::report {

/// "device 0, H200", "memory".
std::string device_name(const vm::DeviceRow& row);
/// "from the host"; "": it is of what the device computes.
std::string_view link_name(const vm::DeviceRow& row);

/// As JSON: of each device its name and memory, the begin and end of all that is known of them, how much of the memory
/// was taken when, and of each link bytes per second in equal parts of the time.
/// @param rows  by device and lane  @param began  the run's begin, seconds since 1970
std::string device_curves(const std::vector<vm::DeviceRow>& rows, double began);

}  // namespace raddle::report
