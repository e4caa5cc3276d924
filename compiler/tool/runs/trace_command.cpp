// `raddle trace`: when the points of a recorded run ran, for a trace viewer.
#include <fmt/format.h>

#include <functional>
#include <utility>

#include "compiler/tool/command/recorded_run.hpp"
#include "compiler/tool/runs/run_picture.hpp"
#include "compiler/tool/runs/run_table.hpp"
#include "compiler/tool/runs/runs.hpp"
#include "compiler/tool/command/words.hpp"
#include "compiler/tool/command/verb.hpp"
#include "compiler/tool/report/device_lanes.hpp"
#include "compiler/tool/report/trace.hpp"
#include "compiler/tool/formats/json_text.hpp"
#include "compiler/tool/formats/quantities.hpp"

namespace raddle::tool {

namespace {

using report::Span;
using report::TraceWriter;

using VisitRow = std::function<bool(const vm::PointRow&)>;
using ForEachRow = std::function<void(const VisitRow&)>;

std::string_view category_of(std::uint64_t failed) { return failed == 0 ? "ok" : "failed"; }

/// @param what  "point", "task"
void write_block(TraceWriter& trace, const Span& span, std::string_view what) {
  const std::string name =
      span.count == 1 && what == "point" ? fmt::format("point {}", span.first) : sweep::counted(span.count, what);
  trace.slice(span, name, category_of(span.failed),
              fmt::format("{{\"first\":{},\"{}s\":{},\"failed\":{}}}", span.first, what, span.count, span.failed));
}

/// Of a task its function's name.
std::string slice_name(const vm::RunRow& run, const vm::PointRow& row) {
  if (is_of_script(run) || row.point != 0)
    for (const auto& [name, value] : sweep::json_members(row.parameters))
      if (name == "task") return value;
  return name_of(run, row.number);
}

void write_attempt(TraceWriter& trace, const Span& span, const vm::RunRow& run, const vm::PointRow& row) {
  sweep::JsonObject about;
  if (row.point != 0) about.add("point", std::to_string(row.point));
  about.add("parameters", row.parameters);
  if (!row.attempt.results.empty()) about.add("results", row.attempt.results);
  about.add("outcome", sweep::json_string(name_of(row.attempt.outcome)));
  if (row.attempt_number > 1) about.add("attempt", std::to_string(row.attempt_number));
  if (row.attempt.exit_code != 0) about.add("exit_code", std::to_string(row.attempt.exit_code));
  if (row.attempt.signal != 0) about.add("signal", std::to_string(row.attempt.signal));
  if (!row.attempt.detail.empty()) about.add("detail", sweep::json_string(row.attempt.detail));
  trace.slice(span, slice_name(run, row), category_of(span.failed), about.text());
}

/// Each with what the record says of it.
void write_all(TraceWriter& trace, const std::vector<Span>& spans, const vm::RunRow& run, const ForEachRow& for_each) {
  std::vector<const Span*> by_visit(spans.size());
  for (const Span& span : spans) by_visit[span.visited] = &span;
  std::size_t visited = 0;
  for_each([&](const vm::PointRow& row) {
    write_attempt(trace, *by_visit[visited++], run, row);
    return true;
  });
  for (; visited < spans.size(); ++visited) write_block(trace, *by_visit[visited], "point");
}

/// Tasks of a sweep's points have lanes of their own, below those of the points; below all are the devices'.
void write_trace(vm::RunRecord& record, const vm::RunRow& run, std::uint64_t most, sweep::Writer& writer) {
  std::vector<Span> points = spans_of(record, run), tasks = task_spans_of(record, run);
  const std::uint32_t point_lanes = place_in_lanes(points), task_lanes = place_in_lanes(tasks);
  for (Span& task : tasks) task.lane += point_lanes;
  TraceWriter trace(writer, fmt::format("run {}: {}", run.id, command_text(run)));
  for (std::uint32_t lane = 0; lane < point_lanes; ++lane) trace.name_lane(lane, fmt::format("lane {}", lane + 1));
  for (std::uint32_t lane = 0; lane < task_lanes; ++lane)
    trace.name_lane(point_lanes + lane, fmt::format("tasks {}", lane + 1));
  write_load(trace, points);
  const auto write = [&](const std::vector<Span>& spans, std::string_view what, const ForEachRow& for_each) {
    if (spans.size() <= most) return write_all(trace, spans, run, for_each);
    for (const Span& span : join_spans(spans, point_lanes + task_lanes, most)) write_block(trace, span, what);
  };
  write(points, "point", [&](const VisitRow& visit) { record.for_each_point(run.id, visit); });
  write(tasks, "task", [&](const VisitRow& visit) { record.for_each_task(run.id, std::nullopt, visit); });
  report::write_device_lanes(trace, record.device_rows(run.id), run.started, point_lanes + task_lanes, most);
  trace.end();
}

constexpr PictureVerb trace_picture = {
    .name = "trace",
    .description =
        "raddle trace: when each point of a recorded sweep, or each task of a script, ran, for https://ui.perfetto.dev "
        "or chrome://tracing; tasks of a sweep's points have lanes of their own, and so has "
        "each device and each of its links\n\n"
        "examples:\n  raddle trace -o trace.json\n  raddle trace 261121-150412-k7 -o k7.json\n",
    .output = "The trace; .json.gz: compressed",
    .example = "trace.json"};

void add_trace_options(CLI::App& app, DrawWords& words) {
  add_draw_options(app, words, trace_picture);
  app.add_option("--limit", words.most_slices,
                 fmt::format("Slices at most: neighbours in a lane become one where there are more (default {})",
                             report::most_slices))
      ->check(is_whole_from(1))
      ->type_name("N");
}

int trace_command(const std::vector<std::string>& words) {
  CLI::App app("", "raddle trace");
  DrawWords read;
  add_trace_options(app, read);
  if (const std::optional<int> code = parse_verb(app, words, trace_picture.name)) return *code;
  return draw_run(read, trace_picture, [&](vm::RunRecord& record, const vm::RunRow& run, sweep::Writer& writer) {
    write_trace(record, run, read.most_slices, writer);
  });
}

}  // namespace

const Verb trace_verb = {.name = trace_picture.name,
                         .about = "When the points of a run ran, for Perfetto: trace RUN -o trace.json",
                         .run = trace_command,
                         .describe = [](CLI::App& app) { describe_with(app, add_trace_options); }};

}  // namespace raddle::tool
