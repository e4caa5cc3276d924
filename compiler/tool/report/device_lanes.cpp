#include "compiler/tool/report/device_lanes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "compiler/tool/formats/json_text.hpp"
#include "compiler/tool/formats/quantities.hpp"

namespace raddle::report {
namespace {

void write_row(TraceWriter& trace, const Span& span, const vm::DeviceRow& row) {
  sweep::JsonObject about;
  if (!row.place.empty()) about.add("at", sweep::json_string(row.place));
  about.add("computed", std::to_string(row.computed));
  trace.slice(span, row.place.empty() ? row.function : fmt::format("{} at {}", row.function, row.place), "device",
              about.text());
}

/// Those of one device. @return how many lanes it has
std::uint32_t write_device(TraceWriter& trace, std::span<const vm::DeviceRow> rows, double began,
                           std::uint32_t first_lane, std::uint64_t most) {
  std::vector<Span> spans;
  for (const vm::DeviceRow& row : rows)
    spans.push_back({.start_s = row.started - began, .duration_s = row.duration_s, .visited = spans.size()});
  const std::uint32_t lanes = place_in_lanes(spans);
  for (std::uint32_t lane = 0; lane < lanes; ++lane)
    trace.name_lane(first_lane + lane, fmt::format("device {}, {}{}", rows.front().device, rows.front().name,
                                                   lane == 0 ? "" : fmt::format(", {}", lane + 1)));
  for (Span span : join_spans(spans, lanes, most)) {
    span.lane += first_lane;
    if (span.count == 1)
      write_row(trace, span, rows[span.visited]);
    else
      trace.slice(span, fmt::format("{} batches", sweep::with_commas(span.count)), "device", "{}");
  }
  return lanes;
}

}  // namespace

void write_device_lanes(TraceWriter& trace, const std::vector<vm::DeviceRow>& rows, double began,
                        std::uint32_t first_lane, std::uint64_t most) {
  for (auto begin = rows.begin(); begin != rows.end();) {
    const auto end = std::ranges::find_if(begin, rows.end(),
                                          [begin](const vm::DeviceRow& row) { return row.device != begin->device; });
    first_lane += write_device(trace, {begin, end}, began, first_lane, most);
    begin = end;
  }
}

}  // namespace raddle::report
