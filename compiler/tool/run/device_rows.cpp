#include "compiler/tool/run/device_rows.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "vm/memory/bounded_memory.hpp"
#include "vm/value/unix_time.hpp"

namespace raddle::tool {

namespace {

double steady_time() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

/// Pieces of arrays between memory and its file, as far as they were kept.
static void add_moves(const vm::BoundedMemory& memory, double unix_of_steady, std::vector<vm::DeviceRow>& rows) {
  const std::size_t begin = rows.size();
  for (const vm::BoundedMemory::Move& move : memory.moves())
    rows.push_back(
        {.device = vm::DeviceRow::own_memory,
         .name = "memory",
         .memory_bytes = memory.limit_bytes(),
         .lane = static_cast<std::uint32_t>(move.is_out ? vm::DeviceLane::to_host : vm::DeviceLane::from_host),
         .started = unix_of_steady + static_cast<double>(move.start_ns) * 1e-9,
         .duration_s = static_cast<double>(move.end_ns - move.start_ns) * 1e-9,
         .bytes = move.bytes,
         .held = move.used_bytes,
         .function = "arrays",
         .place = ""});
  std::ranges::stable_sort(rows.begin() + static_cast<std::ptrdiff_t>(begin), rows.end(), {},
                           [](const vm::DeviceRow& row) { return std::pair(row.lane, row.started); });
}

std::vector<vm::DeviceRow> device_rows(const vm::DeviceLog& log, const vm::Devices* devices, const SourceMap& sources) {
  std::vector<vm::DeviceRow> rows;
  const double unix_of_steady = vm::unix_time() - steady_time();
  const std::vector<vm::DeviceFacts> facts = devices ? devices->facts() : std::vector<vm::DeviceFacts>();
  for (const vm::DeviceSpan& span : log.spans()) {
    const vm::Place& place = span.place;
    rows.push_back({.device = span.device,
                    .name = span.device < facts.size() ? facts[span.device].name : "",
                    .memory_bytes = span.device < facts.size() ? facts[span.device].memory_bytes : 0,
                    .lane = static_cast<std::uint32_t>(span.lane),
                    .started = unix_of_steady + static_cast<double>(span.start_ns) * 1e-9,
                    .duration_s = static_cast<double>(span.duration_ns) * 1e-9,
                    .computed = span.computed,
                    .bytes = span.bytes,
                    .held = span.held,
                    .function = span.function,
                    .place = place.end == 0 ? "" : sources.describe({place.file, place.begin, place.end})});
  }
  if (const vm::BoundedMemory* const memory = vm::BoundedMemory::get()) add_moves(*memory, unix_of_steady, rows);
  return rows;
}

}  // namespace raddle::tool
