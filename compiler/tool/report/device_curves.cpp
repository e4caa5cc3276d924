#include "compiler/tool/report/device_curves.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <span>

#include "compiler/tool/formats/json_text.hpp"

namespace raddle::report {
namespace {

constexpr std::size_t parts = 300;
constexpr std::size_t most_samples = 2000;

/// As vm::DeviceLane has them.
constexpr std::array<std::string_view, 4> link_names = {"", "from the host", "to the host", "from other devices"};
constexpr std::array<std::string_view, 4> file_names = {"", "from the file", "to the file", ""};

struct Time {
  double begin_s = 0, end_s = 0;
  double part_s() const { return (end_s - begin_s) / parts; }
};

Time time_of(const std::vector<vm::DeviceRow>& rows, double began) {
  Time time{.begin_s = rows.front().started - began, .end_s = 0};
  for (const vm::DeviceRow& row : rows) {
    time.begin_s = std::min(time.begin_s, row.started - began);
    time.end_s = std::max(time.end_s, row.started - began + row.duration_s);
  }
  return time;
}

/// Bytes per second: each transfer is spread over the time that it takes.
std::string curve_of(std::span<const vm::DeviceRow> rows, double began, const Time& time) {
  std::vector<double> bytes(parts);
  const auto part_of = [&](double at_s) {
    return static_cast<std::size_t>(std::clamp((at_s - time.begin_s) / time.part_s(), 0.0, parts - 1.0));
  };
  for (const vm::DeviceRow& row : rows) {
    const double start_s = row.started - began, end_s = start_s + row.duration_s;
    const std::size_t first = part_of(start_s), last = part_of(end_s);
    for (std::size_t part = first; part <= last; ++part) {
      const double part_begin_s = time.begin_s + time.part_s() * static_cast<double>(part);
      const double here_s = std::min(end_s, part_begin_s + time.part_s()) - std::max(start_s, part_begin_s);
      const double share = first == last ? 1 : std::max(here_s, 0.0) / row.duration_s;
      bytes[part] += share * static_cast<double>(row.bytes);
    }
  }
  for (double& each : bytes) each /= time.part_s();
  return fmt::format("[{:.5g}]", fmt::join(bytes, ","));
}

/// The greatest ones of neighbours, if there are many.
std::string memory_of(std::span<const vm::DeviceRow> all, double began) {
  std::vector<vm::DeviceRow> rows;
  std::ranges::copy_if(all, std::back_inserter(rows), [](const vm::DeviceRow& row) { return row.held != 0; });
  std::ranges::stable_sort(rows, {}, &vm::DeviceRow::started);
  const std::size_t each = rows.size() / most_samples + 1;
  std::vector<std::string> samples;
  for (std::size_t i = 0; i < rows.size(); i += each) {
    const auto here = std::span(rows).subspan(i, std::min(each, rows.size() - i));
    const vm::DeviceRow& most = *std::ranges::max_element(here, {}, &vm::DeviceRow::held);
    samples.push_back(fmt::format("[{:.6g},{}]", most.started - began, most.held));
  }
  return fmt::format("[{}]", fmt::join(samples, ","));
}

std::string device_json(std::span<const vm::DeviceRow> rows, double began, const Time& time) {
  const vm::DeviceRow& first = rows.front();
  const std::string memory = memory_of(rows, began);
  std::vector<std::string> links;
  while (!rows.empty()) {
    const std::uint32_t lane = rows.front().lane;
    const auto end = std::ranges::find_if(rows, [lane](const vm::DeviceRow& row) { return row.lane != lane; });
    const auto own = rows.first(static_cast<std::size_t>(end - rows.begin()));
    if (!link_name(own.front()).empty())
      links.push_back(fmt::format(R"({{"name":{},"bytes":{}}})", sweep::json_string(link_name(own.front())),
                                  curve_of(own, began, time)));
    rows = rows.subspan(own.size());
  }
  sweep::JsonObject json;
  json.add("name", sweep::json_string(device_name(first)));
  json.add("memory", std::to_string(first.memory_bytes));
  json.add("begin", fmt::format("{:.6g}", time.begin_s));
  json.add("end", fmt::format("{:.6g}", time.end_s));
  json.add("held", memory);
  json.add("links", fmt::format("[{}]", fmt::join(links, ",")));
  return json.text();
}

}  // namespace

std::string device_name(const vm::DeviceRow& row) {
  return row.device == vm::DeviceRow::own_memory ? row.name : fmt::format("device {}, {}", row.device, row.name);
}

std::string_view link_name(const vm::DeviceRow& row) {
  const auto& names = row.device == vm::DeviceRow::own_memory ? file_names : link_names;
  return row.lane < names.size() ? names[row.lane] : "";
}

std::string device_curves(const std::vector<vm::DeviceRow>& rows, double began) {
  if (rows.empty()) return "[]";
  const Time time = time_of(rows, began);
  std::vector<std::string> devices;
  for (auto begin = rows.begin(); time.end_s > time.begin_s && begin != rows.end();) {
    const auto end = std::ranges::find_if(begin, rows.end(),
                                          [begin](const vm::DeviceRow& row) { return row.device != begin->device; });
    devices.push_back(device_json({begin, end}, began, time));
    begin = end;
  }
  return fmt::format("[{}]", fmt::join(devices, ","));
}

}  // namespace raddle::report
