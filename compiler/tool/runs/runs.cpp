// `raddle runs`.
#include "compiler/tool/runs/runs.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <ranges>

#include "compiler/tool/command/recorded_run.hpp"
#include "compiler/tool/command/session.hpp"
#include "compiler/tool/command/usage_error.hpp"
#include "compiler/tool/command/words.hpp"
#include "compiler/tool/runs/recorded_points.hpp"
#include "compiler/tool/runs/run_table.hpp"
#include "compiler/tool/sweep/sweep_request.hpp"
#include "compiler/tool/command/words.hpp"
#include "compiler/tool/command/verb.hpp"
#include "compiler/tool/sweep/command_template.hpp"
#include "compiler/tool/formats/csv.hpp"
#include "compiler/tool/formats/json_text.hpp"
#include "compiler/tool/space/point_key.hpp"
#include "compiler/tool/formats/quantities.hpp"
#include "compiler/tool/sweep/results.hpp"
#include "compiler/tool/formats/scan.hpp"
#include "compiler/tool/formats/writer.hpp"
#include "vm/record/record_folder.hpp"
#include "vm/record/row_digest.hpp"
#include "vm/value/standard_error.hpp"

namespace raddle::tool {

namespace {

std::string time_text(double seconds) {
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::localtime(static_cast<std::time_t>(seconds)));
}

int print(const std::string& text) { return write_output(text) ? exit_ok : exit_failed; }

int list_runs(bool as_json) {
  std::optional<vm::RunRecord> record = vm::RunRecord::open();
  const std::vector<vm::RunRow> runs = record ? record->runs() : std::vector<vm::RunRow>();
  std::string text;
  for (const vm::RunRow& run : runs) {
    if (as_json)
      text += (text.empty() ? "" : ",") + run_json(run);
    else
      text += fmt::format("{}  {:<11}  {:>9} ok {:>9} failed  {}{}\n", run.id, name_of(run.state),
                          sweep::with_commas(run.ok + run.taken), sweep::with_commas(run.failed),
                          cut_on_terminal(command_text(run)),
                          run.resumes.empty() ? "" : fmt::format("  ({})", origin_text(run)));
  }
  if (as_json) return print(json_line(fmt::format("\"runs\":[{}]", text)));
  return runs.empty() ? no_record() : print(text);
}

std::string tasks_text(const vm::RunRow& run) {
  const std::uint64_t ended = run.ok + run.failed + run.taken, begun = std::max(run.points, ended);
  std::string text = fmt::format("\n  {}: {} ok, {} failed", sweep::counted(begun, "task"), sweep::with_commas(run.ok),
                                 sweep::with_commas(run.failed));
  if (run.taken != 0) text += fmt::format(", {} from the record", sweep::with_commas(run.taken));
  if (begun != ended) text += fmt::format(", {} ended with the run", sweep::with_commas(begun - ended));
  return text + "\n";
}

int show_run(const std::string& name, bool as_json) {
  const std::expected<vm::RunRow, int> run = find_run(name);
  if (!run) return run.error();
  std::optional<vm::TaskCounts> tasks;
  if (!is_of_script(*run)) tasks = vm::RunRecord::open()->count_tasks(run->id);
  if (as_json) return print(json_line("\"run\":" + run_json(*run, tasks)));
  std::string text =
      fmt::format("{}\n  {}\n  started {}\n", run->id, cut_on_terminal(command_text(*run)), time_text(run->started));
  text += fmt::format("  {}", name_of(run->state));
  if (run->ended != 0) text += fmt::format(" after {}", sweep::seconds_text(run->ended - run->started));
  if (is_of_script(*run)) return print(text + tasks_text(*run));
  text += fmt::format("\n  {}: {} ok, {} failed", sweep::counted(run->points, "point"), sweep::with_commas(run->ok),
                      sweep::with_commas(run->failed));
  text +=
      is_counted(*run) ? fmt::format(", {} from the record of earlier runs\n", sweep::with_commas(run->taken)) : "\n";
  if (tasks->all != 0) {
    text += fmt::format("  {} of its points: {} ok, {} failed", sweep::counted(tasks->all, "task"),
                        sweep::with_commas(tasks->ok), sweep::with_commas(tasks->failed));
    const std::uint64_t interrupted = tasks->all - tasks->ok - tasks->failed;
    text += interrupted == 0 ? "\n" : fmt::format(", {} ended with their points\n", sweep::with_commas(interrupted));
  }
  if (!run->resumes.empty()) text += fmt::format("  {}\n", origin_text(*run));
  if (run->state != vm::RunState::done && run->state != vm::RunState::failed && run->state != vm::RunState::running)
    text += fmt::format("  it goes on with: raddle sweep --resume={}\n", run->id);
  if (run->failed != 0) text += fmt::format("  the failed ones once more: raddle rerun {} --failed\n", run->id);
  return print(text);
}

/// CSV, as `raddle sweep -o -` would write it; of a run that is not through what it has done.
int print_table(const std::string& name) {
  const std::expected<vm::RunRow, int> run = find_run(name);
  if (!run) return run.error();
  vm::RunRecord record = *vm::RunRecord::open();
  std::expected<void, std::string> written;
  std::string lost;
  record.read_together([&] {
    const RunTable table(record, *run);
    if (!table.note().empty()) vm::print_stderr("raddle: run {}: {}\n", run->id, table.note());
    written = sweep::write_to_stdout([&](sweep::Writer& writer) {
      const report::TableSource source = table.source();
      std::vector<std::string_view> names;
      for (const report::TableColumn& column : source.columns) names.push_back(column.name);
      sweep::append_csv_row(writer.text(), names);
      source.for_each([&](std::span<const std::string_view> cells) {
        sweep::append_csv_row(writer.text(), cells);
        return writer.flush_some();
      });
    });
    lost = table.lost_points();
  });
  if (!written)
    vm::print_stderr("raddle: {}\n", written.error());
  else if (!lost.empty())
    vm::print_stderr("raddle: run {}: {}\n", run->id, lost);
  return written && lost.empty() ? exit_ok : exit_failed;
}

/// A later sweep over the same work took points from earlier ones, whose table would have them no more; else nullptr.
const vm::RunRow* find_taker(const std::vector<vm::RunRow>& removed, const std::vector<vm::RunRow>& runs,
                             const vm::RunRow& earlier) {
  const auto took = [&](const vm::RunRow& each) {
    return each.started > earlier.started && each.work == earlier.work && each.taken != 0 && !is_of_script(each) &&
           each.state != vm::RunState::running &&  // of that RunRecord::remove() tells
           std::ranges::find(removed, each.id, &vm::RunRow::id) == removed.end();
  };
  const auto found = std::ranges::find_if(runs, took);
  return found == runs.end() ? nullptr : &*found;
}

int remove_runs(const std::vector<std::string>& names, bool as_json, bool is_forced) {
  std::vector<vm::RunRow> removed;
  for (const std::string& name : names) {
    if (name.empty()) return usage_error("runs rm: an empty word is no run", "runs rm");
    std::expected<vm::RunRow, int> run = find_run(name);
    if (!run) return run.error();
    removed.push_back(std::move(*run));
  }
  vm::RunRecord record = *vm::RunRecord::open();
  const std::vector<vm::RunRow> runs = record.runs();
  for (const vm::RunRow& run : removed) {
    const vm::RunRow* const taker = is_forced ? nullptr : find_taker(removed, runs, run);
    if (taker == nullptr) continue;
    vm::print_stderr(
        "raddle: run {} has points from the record of earlier runs: those of {} would be `not run` in its table\n"
        "  = help: `raddle runs rm --force {}` removes it all the same\n",
        taker->id, run.id, run.id);
    return exit_failed;
  }
  std::string ids;
  for (const vm::RunRow& run : removed) {
    if (const std::string running = record.remove(run); !running.empty()) {
      vm::print_stderr("raddle: run {} is running{}\n", running,
                       running == run.id ? "" : fmt::format(", and may count on the points of {}", run.id));
      return exit_failed;
    }
    std::error_code ignored;
    std::filesystem::remove_all(vm::folder_of_run(run.id), ignored);
    ids += (ids.empty() ? "" : ",") + sweep::json_string(run.id);
    if (!as_json) vm::print_stderr("raddle: removed {}: {}\n", run.id, sweep::shortened(command_text(run)));
  }
  if (as_json) return print(json_line(fmt::format("\"removed\":[{}]", ids)));
  return exit_ok;
}

}  // namespace

std::optional<RunPoint> read_run_point(const std::string& word) {
  const std::size_t slash = word.find('/');
  RunPoint found{.run = word.substr(0, slash), .point = {}, .task = {}};
  if (slash == std::string::npos) return found;
  const std::string_view numbers = std::string_view(word).substr(slash + 1);
  const std::size_t next = numbers.find('/');
  found.point = sweep::read_count(numbers.substr(0, next));
  if (next != std::string_view::npos) found.task = sweep::read_count(numbers.substr(next + 1));
  if (!found.point || (next != std::string_view::npos && !found.task)) return std::nullopt;
  return found;
}

std::string origin_text(const vm::RunRow& run) {
  if (run.kind == run_kind::rerun_failed) return fmt::format("reruns what failed in {}", run.resumes);
  if (run.kind == run_kind::rerun_some) return fmt::format("reruns some of {}", run.resumes);
  if (run.kind == run_kind::rerun_all) return fmt::format("reruns all of {}", run.resumes);
  return fmt::format("{} {}", run.kind == run_kind::rerun ? "reruns" : "resumes", run.resumes);
}

const char* kind_of_row(const vm::RunRow& run) { return is_of_script(run) ? "task" : "point"; }

std::string name_of(const vm::RunRow& run, std::uint64_t number) {
  return fmt::format("{} {}", kind_of_row(run), number);
}

std::string task_name(std::uint64_t point, std::uint64_t number) {
  return point == 0 ? fmt::format("task {}", number) : fmt::format("task {}/{}", point, number);
}

std::string task_text(const std::string& parameters) {
  std::string text;
  for (const auto& [name, value] : sweep::json_members(parameters)) text += (text.empty() ? "" : ": ") + value;
  return text;
}

namespace {

struct RunsWords {
  bool as_json = false, is_forced = false;
  std::string run;
  std::vector<std::string> runs;
  std::string point;
  std::string other;
  CLI::App *show = nullptr, *table = nullptr, *logs = nullptr, *diff = nullptr, *remove = nullptr;
};

void add_runs_options(CLI::App& app, RunsWords& words) {
  app.description(
      "raddle runs: what was run in this folder\n\nexamples:\n  raddle runs\n  raddle runs show\n"
      "  raddle runs logs 261121-150412-k7 17\n  raddle runs logs k7/17/2\n  raddle runs diff k7\n  raddle runs table "
      "> so_far.csv\n");
  app.require_subcommand(0, 1);
  const auto add = [&](const char* name, const char* about) {
    CLI::App* verb = app.add_subcommand(name, about);
    verb->add_flag("--json", words.as_json, "As JSON, with the number of its form in `schema`");
    return verb;
  };
  constexpr const char* about_run = "A run's id, its beginning or its end, or `last`; none: the latest";
  add("list", "A line for each run, the oldest first; so does `raddle runs` alone");
  words.show = add("show", "One run");
  words.show->add_option("RUN", words.run, about_run)->type_name("");
  words.table = app.add_subcommand("table",
                                   "Its table as CSV, of a script's run with the number of each task; of a run that "
                                   "was ended or still runs, what it "
                                   "has done");
  words.table->add_option("RUN", words.run, about_run)->type_name("");
  words.logs = add("logs", "What its points, or tasks, have printed: the ends of both outputs");
  words.logs
      ->add_option(
          "RUN", words.run,
          "A run's id, its beginning or its end, and perhaps `/` and a point, and `/` and a task of that; none: "
          "the latest")
      ->type_name("");
  words.logs
      ->add_option("POINT", words.point,
                   "A point's or task's number, and perhaps `/` and a task; none: all, in the order of their ends")
      ->type_name("");
  words.diff =
      add("diff", "Which points or tasks, which results, and which files that they read, differ between two runs");
  words.diff->add_option("A", words.run, "A run's id, its beginning or its end")->required()->type_name("");
  words.diff->add_option("B", words.other, "The same; none: the latest")->type_name("");
  words.remove = add("rm", "Remove runs: later sweeps take nothing from them");
  words.remove->add_flag("-f,--force", words.is_forced,
                         "Also a run from which a later one took points: its table has them no more");
  words.remove->add_option("RUN", words.runs, "Ids")->required()->type_name("");
}

int runs_command(const std::vector<std::string>& words) {
  CLI::App app("", "raddle runs");
  RunsWords read;
  add_runs_options(app, read);
  if (const std::optional<int> code = parse_verb(app, words, "runs")) return *code;
  return with_record([&] {
    if (*read.show) return show_run(read.run, read.as_json);
    if (*read.table) return print_table(read.run);
    if (*read.logs) return show_logs(read.point.empty() ? read.run : read.run + "/" + read.point, read.as_json);
    if (*read.diff) return diff_runs(read.run, read.other, read.as_json);
    return *read.remove ? remove_runs(read.runs, read.as_json, read.is_forced) : list_runs(read.as_json);
  });
}

}  // namespace

const Verb runs_verb = {
    .name = "runs",
    .about = "What was run in this folder: runs list, runs show, runs table, runs logs, runs diff, runs rm",
    .run = runs_command,
    .describe = [](CLI::App& app) { describe_with(app, add_runs_options); }};

}  // namespace raddle::tool
