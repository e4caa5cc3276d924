// `raddle report`: a page about a recorded run.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>

#include "compiler/tool/command/recorded_run.hpp"
#include "compiler/tool/runs/run_picture.hpp"
#include "compiler/tool/runs/run_table.hpp"
#include "compiler/tool/runs/runs.hpp"
#include "compiler/tool/command/session.hpp"
#include "compiler/tool/command/words.hpp"
#include "compiler/tool/command/verb.hpp"
#include "compiler/tool/report/page.hpp"
#include "compiler/tool/sweep/failures.hpp"
#include "compiler/tool/formats/json_text.hpp"
#include "compiler/tool/formats/quantities.hpp"
#include "vm/value/shown_text.hpp"
#include "vm/value/standard_error.hpp"

namespace raddle::tool {

namespace {

constexpr std::size_t shown_failures = 50;

std::vector<std::pair<std::string, std::string>> facts_of(const vm::RunRow& run) {
  using sweep::with_commas;
  std::vector<std::pair<std::string, std::string>> facts;
  facts.emplace_back("state", name_of(run.state));
  facts.emplace_back(fmt::format("{}s", kind_of_row(run)), with_commas(run.points));
  facts.emplace_back("ok", with_commas(run.ok));
  if (run.failed != 0) facts.emplace_back("failed", with_commas(run.failed));
  if (run.taken != 0) facts.emplace_back("from earlier runs", with_commas(run.taken));
  facts.emplace_back("started",
                     fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::localtime(static_cast<std::time_t>(run.started))));
  if (run.ended != 0) facts.emplace_back("took", sweep::seconds_text(run.ended - run.started));
  if (!run.resumes.empty()) facts.emplace_back("origin", origin_text(run));
  return facts;
}

/// Points whose last attempt failed, those that look alike as one.
std::vector<report::FailureRow> failures_of(vm::RunRecord& record, const vm::RunRow& run, const RunTable& table,
                                            std::vector<std::string>& notes) {
  sweep::Failures failures;
  record.for_each_point(run.id, [&](const vm::PointRow& row) {
    if (!has_failed(row.attempt.outcome) || !row.is_last) return true;
    sweep::Point point{.number = row.number};
    for (const auto& [name, value] : sweep::json_members(row.parameters))
      point.values.push_back(fmt::format("{} = {}", name, value));
    failures.add(point, row.attempt);
    return true;
  });
  std::vector<report::FailureRow> shown;
  for (const sweep::FailureGroup& group : failures.groups()) {
    if (shown.size() == shown_failures) {
      notes.push_back(fmt::format("There are {} kinds of failures; the {} most frequent ones are listed.",
                                  failures.group_count(), shown_failures));
      break;
    }
    shown.push_back({.count = group.count,
                     .what = group.what + (group.line.empty() ? "" : "; " + group.line),
                     .parameters = fmt::format("{}", fmt::join(group.first.values, ", ")),
                     .again = table.again(group.first.number)});
  }
  return shown;
}

report::Report report_of(vm::RunRecord& record, const vm::RunRow& run) {
  report::Report report;
  const RunTable table(record, run);
  report.name = run.id;
  report.each = kind_of_row(run);
  report.command = command_text(run);
  report.facts = facts_of(run);
  if (!table.note().empty()) report.notes.push_back(table.note());
  report.table = summarise(table.source());
  if (const std::string lost = table.lost_points(); !lost.empty()) {
    report.notes.push_back(lost + ".");
    vm::print_stderr("raddle: run {}: {}\n", run.id, lost);
  }
  report.failures = failures_of(record, run, table, report.notes);
  report.spans = spans_of(record, run);
  report.devices = record.device_rows(run.id);
  report.began = run.started;
  return report;
}

constexpr PictureVerb report_picture = {
    .name = "report",
    .description =
        "raddle report: a page about a recorded run, for a browser: parameters against results, durations, "
        "failures, timeline, what devices copied and their memory\n\nexamples:\n  raddle report -o report.html\n"
        "  raddle report 261121-150412-k7 -o k7.html\n",
    .output = "The page, one file that needs no others",
    .example = "report.html"};

void add_report_options(CLI::App& app, DrawWords& words) { add_draw_options(app, words, report_picture); }

int report_command(const std::vector<std::string>& words) {
  CLI::App app("", "raddle report");
  DrawWords read;
  add_report_options(app, read);
  if (const std::optional<int> code = parse_verb(app, words, report_picture.name)) return *code;
  return draw_run(read, report_picture, [](vm::RunRecord& record, const vm::RunRow& run, sweep::Writer& writer) {
    writer.text() = vm::valid_text(make_page(report_of(record, run)));
  });
}

}  // namespace

const Verb report_verb = {.name = report_picture.name,
                          .about = "A page about a run, for a browser: report RUN -o report.html",
                          .run = report_command,
                          .describe = [](CLI::App& app) { describe_with(app, add_report_options); }};

}  // namespace raddle::tool
