// `raddle runs logs`.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/tool/command/recorded_run.hpp"
#include "compiler/tool/command/usage_error.hpp"
#include "compiler/tool/command/session.hpp"
#include "compiler/tool/runs/input_differences.hpp"
#include "compiler/tool/runs/recorded_points.hpp"
#include "compiler/tool/runs/runs.hpp"
#include "compiler/tool/command/words.hpp"
#include "compiler/tool/formats/json_text.hpp"
#include "compiler/tool/formats/quantities.hpp"
#include "compiler/tool/formats/writer.hpp"
#include "vm/value/standard_error.hpp"

namespace raddle::tool {

namespace {

bool is_task(const vm::RunRow& run, const vm::PointRow& row) { return row.point != 0 || is_of_script(run); }

void add_files(sweep::JsonObject& json, const std::string& inputs, bool of_task) {
  if (of_task) {  // its outputs are among its results
    if (!inputs.empty()) json.add("inputs", inputs);
    return;
  }
  const PointFiles files = files_of_point(inputs);
  sweep::JsonObject read;
  for (const auto& [path, version] : files.read) read.add(path, sweep::json_string(version));
  if (!files.read.empty()) json.add("inputs", read.text());
  std::string written;
  for (const auto& [path, mark] : files.written) written += (written.empty() ? "" : ",") + sweep::json_string(path);
  if (!files.written.empty()) json.add("outputs", "[" + written + "]");
}

/// @param tasks  of a sweep's point
std::string row_json(const vm::RunRow& run, const vm::PointRow& row, const std::vector<vm::PointRow>& tasks) {
  const vm::Attempt& attempt = row.attempt;
  sweep::JsonObject json;
  if (row.point != 0) json.add("point", std::to_string(row.point));
  json.add(is_task(run, row) ? "task" : "point", std::to_string(row.number));
  json.add("attempt", std::to_string(row.attempt_number));
  json.add("is_last", row.is_last ? "true" : "false");
  json.add("outcome", sweep::json_string(name_of(attempt.outcome)));
  json.add("exit_code", std::to_string(attempt.exit_code));
  json.add("signal", std::to_string(attempt.signal));
  if (!attempt.detail.empty()) json.add("detail", sweep::json_string(attempt.detail));
  json.add("started", fmt::format("{:.3f}", attempt.started));
  json.add("duration_s", fmt::format("{:.6f}", attempt.duration_s));
  if (attempt.worker != 0) json.add("worker", std::to_string(attempt.worker));
  json.add("parameters", row.parameters);
  add_files(json, attempt.inputs, is_task(run, row));
  json.add("results", attempt.results.empty() ? "{}" : attempt.results);
  json.add("stdout", sweep::json_string(attempt.stdout_end));
  json.add("stdout_size", std::to_string(attempt.stdout_size));
  json.add("stderr", sweep::json_string(attempt.stderr_end));
  json.add("stderr_size", std::to_string(attempt.stderr_size));
  std::string texts;
  for (const vm::PointRow& task : tasks) texts += (texts.empty() ? "" : ",") + row_json(run, task, {});
  if (!tasks.empty()) json.add("tasks", "[" + texts + "]");
  return json.text();
}

std::string output_text(const char* name, const std::string& end, std::uint64_t size) {
  if (size == 0) return "";
  const std::string cut =
      size > end.size() ? fmt::format(", the last {} bytes of {}", end.size(), sweep::with_commas(size)) : "";
  return fmt::format("--- {}{}\n{}{}", name, cut, end, end.ends_with('\n') ? "" : "\n");
}

/// Of a task: where it was called, and whether the result of a call was there already.
std::string origin_of_task(const vm::Attempt& attempt) {
  std::string text;
  for (const auto& [name, value] : sweep::json_members(attempt.results)) {
    if (name == "at") text += fmt::format(", called at {}", value);
    if (name == "source" && value == "record") text += ", from the record";
  }
  return text;
}

/// `point 3 {"n":3}: ok, 0.012 s`
std::string row_line(const vm::RunRow& run, const vm::PointRow& row) {
  const vm::Attempt& attempt = row.attempt;
  const bool of_task = is_task(run, row);
  const std::string name = of_task ? task_name(row.point, row.number) : name_of(run, row.number);
  const std::string work = of_task ? task_text(row.parameters) : row.parameters;
  std::string text = fmt::format("{} {}: {}", name, work, name_of(attempt.outcome));
  if (!of_task && attempt.outcome == vm::PointOutcome::ok && !attempt.results.empty()) text += " " + attempt.results;
  if (attempt.outcome == vm::PointOutcome::exit_code) text += fmt::format(" {}", attempt.exit_code);
  if (attempt.outcome == vm::PointOutcome::signal) text += fmt::format(" {}", attempt.signal);
  if (of_task) text += origin_of_task(attempt);
  if (!attempt.detail.empty()) text += fmt::format(": {}", attempt.detail);
  if (row.attempt_number > 1 || !row.is_last) text += fmt::format(", attempt {}", row.attempt_number);
  return text + fmt::format(", {:.3f} s\n", attempt.duration_s);
}

/// With what it has printed; what tasks of a point have printed is in that point's text already.
std::string row_text(const vm::RunRow& run, const vm::PointRow& row, const std::vector<vm::PointRow>& tasks) {
  const vm::Attempt& attempt = row.attempt;
  std::string text = row_line(run, row) + output_text("stdout", attempt.stdout_end, attempt.stdout_size) +
                     output_text("stderr", attempt.stderr_end, attempt.stderr_size);
  for (const vm::PointRow& task : tasks) text += "  " + row_line(run, task);
  return text;
}

class LogsOfRun {
 public:
  LogsOfRun(vm::RunRecord& record, const vm::RunRow& run, bool as_json)
      : record_(record), run_(run), as_json_(as_json), have_tasks_(record.has_tasks(run.id)) {}

  /// @return exit code
  int show(std::optional<std::uint64_t> point) {
    const UnknownParameters unknown = for_each_recorded_point(record_, run_, point, [&](const vm::PointRow& row) {
      return print(row, tasks_of(row.number, row.attempt_number));
    });
    if (unknown.points != 0)
      warn(fmt::format("the parameters of {} point{} are not known: the values have changed since run {}{}",
                       sweep::with_commas(unknown.points), unknown.points == 1 ? "" : "s", run_.id,
                       unknown.table.empty() ? "" : fmt::format("; they come from `{}`", unknown.table)));
    if (is_written_) show_unended(point);
    if (has_any_ || !point) return is_written_ ? exit_ok : exit_failed;
    vm::print_stderr(
        "raddle: run {} has not run {}\n{}", run_.id, name_of(run_, *point),
        run_.taken != 0
            ? fmt::format("  = help: from which run it may have been taken: raddle why {}/{}\n", run_.id, *point)
            : "");
    return exit_failed;
  }

  int show_task(std::uint64_t point, std::uint64_t number) {
    for (const vm::PointRow& task : tasks_of(point, std::nullopt))
      if (task.number == number && !print(task, {})) break;
    if (has_any_) return is_written_ ? exit_ok : exit_failed;
    vm::print_stderr("raddle: run {} has not run {}\n", run_.id, task_name(point, number));
    return exit_failed;
  }

 private:
  /// What points that were killed, or still run, have done.
  void show_unended(std::optional<std::uint64_t> point) {
    bool is_told = false;
    record_.for_each_unended_task(run_.id, point, [&](const vm::PointRow& task) {
      if (!is_told)
        vm::print_stderr("raddle: run {} has not ended {} tasks:\n", run_.id,
                         point ? name_of(run_, *point) + "; of its" : "these points; of their");
      is_told = true;
      return print(task, {});
    });
  }

  /// @param attempt  at the point; none: all
  std::vector<vm::PointRow> tasks_of(std::uint64_t point, std::optional<std::uint32_t> attempt) {
    std::vector<vm::PointRow> tasks;
    if (!have_tasks_) return tasks;
    record_.for_each_task(run_.id, point, [&](const vm::PointRow& row) {
      if (!attempt || row.point_attempt == *attempt) tasks.push_back(row);
      return true;
    });
    return tasks;
  }

  bool print(const vm::PointRow& row, const std::vector<vm::PointRow>& tasks) {
    has_any_ = true;
    return is_written_ =
               write_output(as_json_ ? json_line("\"log\":" + row_json(run_, row, tasks)) : row_text(run_, row, tasks));
  }

  vm::RunRecord& record_;
  const vm::RunRow& run_;
  const bool as_json_;
  const bool have_tasks_;  ///< points have
  bool has_any_ = false, is_written_ = true;
};

}  // namespace

int show_logs(const std::string& word, bool as_json) {
  const std::optional<RunPoint> asked = read_run_point(word);
  if (!asked) return usage_error(fmt::format("`{}` is no RUN, RUN/POINT or RUN/POINT/TASK", word), "runs logs");
  const std::expected<vm::RunRow, int> run = find_run(asked->run);
  if (!run) return run.error();
  vm::RunRecord record = *vm::RunRecord::open();
  LogsOfRun logs(record, *run, as_json);
  int code = exit_ok;
  record.read_together(
      [&] { code = asked->task ? logs.show_task(*asked->point, *asked->task) : logs.show(asked->point); });
  return code;
}

}  // namespace raddle::tool
