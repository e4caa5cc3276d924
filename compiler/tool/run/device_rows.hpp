#pragma once
// What devices have done for a run, and what its memory has, as the record and pictures have it.
#include <vector>

#include "compiler/source/source_buffer.hpp"
#include "vm/device/device_log.hpp"
#include "vm/device/devices.hpp"
#include "vm/record/run_record.hpp"

namespace raddle::tool {

/// @param devices  that it was done on; null: none
std::vector<vm::DeviceRow> device_rows(const vm::DeviceLog& log, const vm::Devices* devices, const SourceMap& sources);

}  // namespace raddle::tool
