#pragma once
// Lanes of devices in a trace.
#include <cstdint>
#include <vector>

#include "compiler/tool/report/trace.hpp"
#include "vm/record/run_record.hpp"

namespace raddle::report {

/// Each device has lanes for what it computes and for each of its links, several where it has several things under way
/// at once; and a curve of its memory.
/// @param rows  by device and lane  @param began  the trace's begin, seconds since 1970  @param most  slices of a
/// device's lane
void write_device_lanes(TraceWriter& trace, const std::vector<vm::DeviceRow>& rows, double began,
                        std::uint32_t first_lane, std::uint64_t most);

}  // namespace raddle::report
