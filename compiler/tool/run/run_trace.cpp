#include "compiler/tool/run/run_trace.hpp"

#include <fmt/format.h>

#include "compiler/tool/report/device_lanes.hpp"
#include "compiler/tool/report/trace.hpp"
#include "compiler/tool/formats/json_text.hpp"
#include "compiler/tool/formats/quantities.hpp"
#include "compiler/tool/formats/writer.hpp"
#include "vm/value/standard_error.hpp"
#include "vm/value/unix_time.hpp"

namespace raddle::tool {

namespace {

using Entry = vm::TaskTrace::Entry;
using report::Span;
using report::TraceWriter;

std::string_view name_of(vm::TaskKind kind) {
  switch (kind) {
    case vm::TaskKind::activation: return "call";
    case vm::TaskKind::strand: return "statements";
    case vm::TaskKind::iterations: return "foreach";
    case vm::TaskKind::leaf: return "leaf function";
    case vm::TaskKind::ending: return "end of a call";
    case vm::TaskKind::program: return "program";
  }
  return "";
}

double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

class RunTraceWriter {
 public:
  RunTraceWriter(TraceWriter& trace, const vm::Program& program, const SourceMap& sources)
      : trace_(trace), program_(program), sources_(sources) {}

  void write(const vm::TaskTrace& tasks, const std::vector<vm::DeviceRow>& devices) {
    const double began = vm::unix_time() - seconds(tasks.now_ns());
    const std::vector<std::vector<Entry>> workers = tasks.tasks();
    for (std::uint32_t worker = 0; worker < workers.size(); ++worker) {
      trace_.name_lane(worker, fmt::format("worker {}", worker + 1));
      for (const Entry& entry : workers[worker]) add(entry, span_of(entry, worker));
    }
    const auto first_lane = static_cast<std::uint32_t>(workers.size());
    const std::uint32_t program_lanes = add_programs(tasks.programs(), first_lane);
    report::write_device_lanes(trace_, devices, began, first_lane + program_lanes, report::most_slices);
  }

 private:
  static Span span_of(const Entry& entry, std::uint32_t lane) {
    return {.start_s = seconds(entry.start_ns),
            .duration_s = seconds(entry.duration_ns),
            .failed = entry.has_failed ? 1u : 0u,
            .lane = lane};
  }

  /// @return how many lanes they have
  std::uint32_t add_programs(const std::vector<Entry>& programs, std::uint32_t first_lane) {
    std::vector<Span> spans;
    for (const Entry& entry : programs) {
      spans.push_back(span_of(entry, 0));
      spans.back().visited = spans.size() - 1;
    }
    const std::uint32_t lanes = place_in_lanes(spans);
    for (std::uint32_t lane = 0; lane < lanes; ++lane)
      trace_.name_lane(first_lane + lane, fmt::format("programs {}", lane + 1));
    const bool are_all = spans.size() <= report::most_slices;
    for (Span span : report::join_spans(spans, lanes, report::most_slices)) {
      span.lane += first_lane;
      if (are_all)
        add(programs[span.visited], span);
      else
        trace_.slice(span, fmt::format("{} programs", sweep::with_commas(span.count)), "program", "{}");
    }
    write_load(trace_, spans);
    return lanes;
  }

  void add(const Entry& entry, const Span& span) {
    sweep::JsonObject about;
    if (const std::string place = place_of(entry.instruction); !place.empty())
      about.add("at", sweep::json_string(place));
    if (entry.iterations != 0) about.add("iterations", std::to_string(entry.iterations));
    if (entry.count > 1) {
      about.add("busy_ms", fmt::format("{:.3f}", seconds(entry.busy_ns) * 1e3));
      about.add("longest", sweep::json_string(*entry.name));
      trace_.slice(span, fmt::format("{} tasks", sweep::with_commas(entry.count)), "tasks", about.text());
      return;
    }
    if (entry.has_failed) about.add("failed", "true");
    trace_.slice(span, entry.kind == vm::TaskKind::iterations ? "foreach in " + *entry.name : *entry.name,
                 name_of(entry.kind), about.text());
  }

  /// `model.df:12:3`
  std::string place_of(std::uint32_t instruction) const {
    if (instruction == vm::no_id) return {};
    const vm::Place place = program_.places[instruction];
    if (place.end == 0) return {};
    return sources_.describe(raddle::Span{.file = place.file, .begin = place.begin, .end = place.end});
  }

  TraceWriter& trace_;
  const vm::Program& program_;
  const SourceMap& sources_;
};

}  // namespace

bool write_run_trace(const std::string& path, const std::string& script, const vm::TaskTrace& trace,
                     const vm::Program& program, const SourceMap& sources, const std::vector<vm::DeviceRow>& devices) {
  const auto written = sweep::write_file(path, [&](sweep::Writer& writer) {
    TraceWriter events(writer, fmt::format("raddle run {}", script));
    RunTraceWriter(events, program, sources).write(trace, devices);
    events.end();
  });
  if (!written) vm::print_stderr("raddle: {}\n", written.error());
  return written.has_value();
}

}  // namespace raddle::tool
