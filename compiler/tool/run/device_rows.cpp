#include "compiler/tool/run/device_rows.hpp"

#include <chrono>

#include "vm/value/unix_time.hpp"

namespace raddle::tool {

namespace {

double steady_time() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

std::vector<vm::DeviceRow> device_rows(const vm::DeviceLog& log, const vm::Devices* devices, const SourceMap& sources) {
  std::vector<vm::DeviceRow> rows;
  if (devices == nullptr) return rows;
  const double unix_of_steady = vm::unix_time() - steady_time();
  const std::vector<vm::DeviceFacts> facts = devices->facts();
  for (const vm::DeviceSpan& span : log.spans()) {
    const vm::Place& place = span.place;
    rows.push_back({.device = span.device,
                    .name = span.device < facts.size() ? facts[span.device].name : "",
                    .started = unix_of_steady + static_cast<double>(span.start_ns) * 1e-9,
                    .duration_s = static_cast<double>(span.duration_ns) * 1e-9,
                    .computed = span.computed,
                    .function = span.function,
                    .place = place.end == 0 ? "" : sources.describe({place.file, place.begin, place.end})});
  }
  return rows;
}

}  // namespace raddle::tool
