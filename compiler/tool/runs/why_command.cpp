// `raddle why`: why a point of a sweep, or a task, was run, or where its result comes from.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>

#include "compiler/tool/command/recorded_run.hpp"
#include "compiler/tool/command/usage_error.hpp"
#include "compiler/tool/command/session.hpp"
#include "compiler/tool/runs/point_reasons.hpp"
#include "compiler/tool/runs/recorded_points.hpp"
#include "compiler/tool/runs/runs.hpp"
#include "compiler/tool/runs/task_reasons.hpp"
#include "compiler/tool/command/words.hpp"
#include "compiler/tool/command/verb.hpp"
#include "compiler/tool/formats/json_text.hpp"
#include "compiler/tool/formats/quantities.hpp"

namespace raddle::tool {

namespace {

constexpr std::size_t named_points = 10;

/// @param each  "point" or "task"
std::string reason_json(const PointReason& reason, const std::string& each) {
  sweep::JsonObject json;
  if (reason.point != 0) json.add("point", std::to_string(reason.point));
  json.add(each, std::to_string(reason.number));
  json.add("parameters", reason.parameters);
  json.add("state", sweep::json_string(reason.state));
  json.add("because", sweep::json_string(reason.because));
  if (!reason.earlier_run.empty()) {
    json.add("earlier_run", sweep::json_string(reason.earlier_run));
    if (reason.earlier_point != 0) json.add("earlier_point", std::to_string(reason.earlier_point));
    json.add("earlier_" + each, std::to_string(reason.earlier_number));
  }
  std::string differences;
  for (const ValueDifference& value : reason.differences) {
    sweep::JsonObject difference;
    difference.add("parameter", sweep::json_string(value.name));
    difference.add("now", value.now ? sweep::json_value(*value.now) : "null");
    difference.add("before", value.before ? sweep::json_value(*value.before) : "null");
    differences += (differences.empty() ? "" : ",") + difference.text();
  }
  json.add("differences", "[" + differences + "]");
  return json.text();
}

int tell(const vm::RunRow& run, const std::vector<PointReason>& reasons, bool as_json, bool is_whole) {
  std::string text, list;
  const bool are_tasks = is_of_script(run) || (!reasons.empty() && reasons.front().point != 0);
  const std::string each = are_tasks ? "task" : "point";
  for (const PointReason& reason : reasons) {
    list += (list.empty() ? "" : ",") + reason_json(reason, each);
    text += fmt::format("{}{} {}: {}: {}\n", is_whole ? "  " : "",
                        are_tasks ? task_name(reason.point, reason.number) : name_of(run, reason.number),
                        cut_on_terminal(are_tasks ? task_text(reason.parameters) : reason.parameters), reason.state,
                        cut_on_terminal(reason.because));
  }
  if (as_json)
    return write_output(json_line(fmt::format("\"run\":{},\"{}s\":[{}]", sweep::json_string(run.id), each, list)))
               ? exit_ok
               : exit_failed;
  std::string head = fmt::format("run {}: {}\n", run.id, cut_on_terminal(command_text(run)));
  if (is_whole && !is_of_script(run))
    head += fmt::format("  {}: {} from the record of earlier runs, {} run\n", sweep::counted(run.points, "point"),
                        sweep::with_commas(run.taken), sweep::with_commas(run.ok + run.failed));
  if (is_whole && run.ok + run.failed > reasons.size())
    text += fmt::format("  .. `raddle why {}/{}` tells of any other\n", run.id, is_of_script(run) ? "TASK" : "POINT");
  return write_output(head + text) ? exit_ok : exit_failed;
}

int explain(const std::string& word, bool as_json) {
  const std::optional<RunPoint> asked = read_run_point(word);
  if (!asked) return usage_error(fmt::format("`{}` is no RUN, RUN/POINT or RUN/POINT/TASK", word), "why");
  const std::expected<vm::RunRow, int> run = find_run(asked->run);
  if (!run) return run.error();
  vm::RunRecord record = *vm::RunRecord::open();
  std::vector<std::uint64_t> numbers;
  if (asked->task)
    numbers.push_back(*asked->task);
  else if (asked->point)
    numbers.push_back(*asked->point);
  else
    for_each_recorded_point(record, *run, std::nullopt, [&](const vm::PointRow& row) {
      if (row.is_last) numbers.push_back(row.number);
      return numbers.size() < named_points;
    });
  std::ranges::sort(numbers);
  std::vector<PointReason> reasons;
  const bool are_tasks = asked->task || is_of_script(*run);
  const std::uint64_t of_point = asked->task ? *asked->point : 0;
  for (std::optional<PointReason>& reason :
       are_tasks ? task_reasons_of(record, *run, of_point, numbers) : reasons_of(record, *run, numbers)) {
    const std::uint64_t number = numbers[reasons.size()];
    if (!reason)
      return usage_error(
          fmt::format("run {} has no {}", run->id, are_tasks ? task_name(of_point, number) : name_of(*run, number)),
          "why");
    reasons.push_back(std::move(*reason));
  }
  return tell(*run, reasons, as_json, !asked->point);
}

struct WhyWords {
  std::string run;
  bool as_json = false;
};

void add_why_options(CLI::App& app, WhyWords& words) {
  app.description(
      "raddle why: why points of a sweep or tasks of a script were run, or where their results come "
      "from\n\nexamples:\n  raddle why\n"
      "  raddle why 261121-150412-k7\n  raddle why k7/17\n  raddle why k7/17/2\n");
  app.add_option("RUN", words.run,
                 "A run's id, its beginning or its end, and perhaps `/` and a point, and `/` and a task of that; none: "
                 "the latest")
      ->type_name("");
  app.add_flag("--json", words.as_json, "As JSON, with the number of its form in `schema`");
}

int why_command(const std::vector<std::string>& words) {
  CLI::App app("", "raddle why");
  WhyWords read;
  add_why_options(app, read);
  if (const std::optional<int> code = parse_verb(app, words, "why")) return *code;
  return with_record([&] { return explain(read.run, read.as_json); });
}

}  // namespace

const Verb why_verb = {.name = "why",
                       .about = "Why points or tasks were run, or where their results come from: why RUN/POINT[/TASK]",
                       .run = why_command,
                       .describe = [](CLI::App& app) { describe_with(app, add_why_options); }};

}  // namespace raddle::tool
