#include "compiler/tool/report/device_lanes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "compiler/tool/formats/json_text.hpp"
#include "compiler/tool/report/device_curves.hpp"
#include "compiler/tool/formats/quantities.hpp"

namespace raddle::report {
namespace {

constexpr double rounding_s = 1e-6;  ///< of times since 1970

std::string_view category_of(const vm::DeviceRow& row) { return link_name(row).empty() ? "device" : "link"; }

void write_row(TraceWriter& trace, const Span& span, const vm::DeviceRow& row) {
  sweep::JsonObject about;
  if (!row.place.empty()) about.add("at", sweep::json_string(row.place));
  if (row.computed != 0) about.add("computed", std::to_string(row.computed));
  if (row.bytes != 0) about.add("bytes", std::to_string(row.bytes));
  trace.slice(span, row.place.empty() ? row.function : fmt::format("{} at {}", row.function, row.place),
              category_of(row), about.text());
}

/// Those of one device's lane. @return how many lanes of the trace it has
std::uint32_t write_lane(TraceWriter& trace, std::span<const vm::DeviceRow> rows, double began,
                         std::uint32_t first_lane, std::uint64_t most) {
  std::vector<Span> spans;
  for (const vm::DeviceRow& row : rows)
    spans.push_back({.start_s = row.started - began, .duration_s = row.duration_s, .visited = spans.size()});
  const std::uint32_t lanes = place_in_lanes(spans, rounding_s);
  const std::string_view link = link_name(rows.front());
  for (std::uint32_t lane = 0; lane < lanes; ++lane)
    trace.name_lane(first_lane + lane, fmt::format("{}{}{}{}", device_name(rows.front()), link.empty() ? "" : ", ",
                                                   link, lane == 0 ? "" : fmt::format(", {}", lane + 1)));
  for (Span span : join_spans(spans, lanes, most)) {
    span.lane += first_lane;
    if (span.count == 1)
      write_row(trace, span, rows[span.visited]);
    else
      trace.slice(span, fmt::format("{} batches", sweep::with_commas(span.count)), category_of(rows.front()), "{}");
  }
  return lanes;
}

/// How much of its memory is taken, and how much is left: together they are the line of the memory.
void write_memory(TraceWriter& trace, std::span<const vm::DeviceRow> rows, double began) {
  for (const vm::DeviceRow& row : rows)
    if (row.held != 0)
      trace.counter(row.started - began, "bytes of " + device_name(row),
                    fmt::format(R"({{"taken":{},"free":{}}})", row.held,
                                row.memory_bytes - std::min(row.memory_bytes, row.held)));
}

}  // namespace

void write_device_lanes(TraceWriter& trace, const std::vector<vm::DeviceRow>& rows, double began,
                        std::uint32_t first_lane, std::uint64_t most) {
  for (auto begin = rows.begin(); begin != rows.end();) {
    const auto end = std::ranges::find_if(begin, rows.end(), [begin](const vm::DeviceRow& row) {
      return row.device != begin->device || row.lane != begin->lane;
    });
    first_lane += write_lane(trace, {begin, end}, began, first_lane, most);
    write_memory(trace, {begin, end}, began);
    begin = end;
  }
}

}  // namespace raddle::report
