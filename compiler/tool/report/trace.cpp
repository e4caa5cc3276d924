#include "compiler/tool/report/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "compiler/tool/formats/json_text.hpp"

namespace raddle::report {
namespace {

/// Times are in microseconds there.
std::string micros(double seconds) { return fmt::format("{:.3f}", seconds * 1e6); }

double end_of(const std::vector<Span>& spans) {
  double end_s = 0;
  for (const Span& span : spans) end_s = std::max(end_s, span.end_s());
  return end_s;
}

}  // namespace

TraceWriter::TraceWriter(sweep::Writer& writer, std::string_view process) : writer_(writer) {
  writer_.text() += "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[";
  add(fmt::format(R"({{"ph":"M","pid":1,"name":"process_name","args":{{"name":{}}}}})", sweep::json_string(process)));
}

void TraceWriter::add(std::string_view event) {
  (writer_.text() += is_first_ ? "\n" : ",\n") += event;
  is_first_ = false;
  writer_.flush_some();
}

void TraceWriter::name_lane(std::uint32_t lane, std::string_view name) {
  add(fmt::format(R"({{"ph":"M","pid":1,"tid":{},"name":"thread_name","args":{{"name":{}}}}})", lane + 1,
                  sweep::json_string(name)));
  add(fmt::format(R"({{"ph":"M","pid":1,"tid":{},"name":"thread_sort_index","args":{{"sort_index":{}}}}})", lane + 1,
                  lane + 1));
}

void TraceWriter::slice(const Span& span, std::string_view name, std::string_view category,
                        std::string_view arguments) {
  add(fmt::format(R"({{"ph":"X","pid":1,"tid":{},"ts":{},"dur":{},"name":{},"cat":{},"args":{}}})", span.lane + 1,
                  micros(span.start_s), micros(span.duration_s), sweep::json_string(name), sweep::json_string(category),
                  arguments));
}

void TraceWriter::counter(double at_s, std::string_view name, std::string_view values) {
  add(fmt::format(R"({{"ph":"C","pid":1,"ts":{},"name":{},"args":{}}})", micros(at_s), sweep::json_string(name),
                  values));
}

void TraceWriter::end() { writer_.text() += "\n]}\n"; }

std::vector<Span> join_spans(const std::vector<Span>& spans, std::uint32_t lanes, std::uint64_t most) {
  if (spans.size() <= most || lanes == 0) return spans;
  const double width = end_of(spans) * lanes / static_cast<double>(std::max<std::uint64_t>(most, lanes));
  std::vector<Span> joined;
  std::vector<std::optional<std::size_t>> open(lanes);  // the last one of each lane, in `joined`
  for (const Span& span : spans) {
    std::optional<std::size_t>& last = open[span.lane];
    const auto part = [&](const Span& one) { return static_cast<std::int64_t>(one.start_s / width); };
    if (!last || part(joined[*last]) != part(span)) {
      last = joined.size();
      joined.push_back(span);
      continue;
    }
    Span& one = joined[*last];
    one.duration_s = span.end_s() - one.start_s;
    one.count += span.count;
    one.failed += span.failed;
  }
  return joined;
}

void write_load(TraceWriter& trace, const std::vector<Span>& spans) {
  constexpr std::size_t steps = 1000;
  const double end_s = end_of(spans);
  const std::vector<LoadBin> load = load_of(spans, 0, end_s, std::min(steps, spans.size()));
  for (std::size_t i = 0; i < load.size(); ++i)
    trace.counter(end_s * static_cast<double>(i) / static_cast<double>(load.size()), "running",
                  fmt::format("{{\"ok\":{:.3f},\"failed\":{:.3f}}}", load[i].ok, load[i].failed));
}

}  // namespace raddle::report
