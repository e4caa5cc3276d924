#include "compiler/tool/command/recorded_run.hpp"

#include <sys/stat.h>

#include <fmt/format.h>

#include <ranges>
#include <string_view>

#include "compiler/tool/command/session.hpp"
#include "compiler/tool/formats/json_text.hpp"
#include "vm/external/shell_command.hpp"
#include "vm/record/lost_points.hpp"
#include "vm/record/record_folder.hpp"
#include "vm/record/row_digest.hpp"
#include "vm/value/standard_error.hpp"

namespace raddle::tool {

/// What a user may say for it: no id begins so.

int no_record() {
  vm::print_stderr("raddle: nothing was recorded in this folder: there is no `{}`\n", vm::record_path);
  return exit_failed;
}

int with_record(const std::function<int()>& action) {
  int code = exit_failed;
  try {
    code = action();
  } catch (const vm::RecordError& error) {
    vm::print_stderr("raddle: {}\n", error.what());
  }
  if (vm::has_met_damage())
    warn(fmt::format("rows of the record `{}` are damaged, and count as not there", vm::record_path));
  if (vm::has_met_damaged_index())
    warn(fmt::format("an index of the record `{}` is damaged: a sweep runs the points again that it does not lead to",
                     vm::record_path));
  return code;
}

bool is_of_script(const vm::RunRow& run) { return run.kind == run_kind::script; }

bool is_counted(const vm::RunRow& run) {
  return run.state != vm::RunState::running && run.state != vm::RunState::killed;
}

std::string command_text(const vm::RunRow& run) {
  return fmt::format("raddle {} {}", is_of_script(run) ? "run" : "sweep", vm::shell_line(run.words()));
}

std::string run_json(const vm::RunRow& run, std::optional<vm::TaskCounts> tasks) {
  sweep::JsonObject json;
  json.add("id", sweep::json_string(run.id));
  json.add("kind", sweep::json_string(run.kind));
  json.add("state", sweep::json_string(name_of(run.state)));
  std::string words;
  for (const std::string& word : run.words()) words += (words.empty() ? "" : ",") + sweep::json_string(word);
  json.add("words", "[" + words + "]");
  json.add("started", fmt::format("{:.3f}", run.started));
  if (run.ended != 0) json.add("ended", fmt::format("{:.3f}", run.ended));
  json.add("points", std::to_string(run.points));
  if (is_counted(run)) json.add("from_record", std::to_string(run.taken));
  json.add("ok", std::to_string(run.ok));
  json.add("failed", std::to_string(run.failed));
  if (tasks) json.add("tasks", std::to_string(tasks->all));
  if (tasks) json.add("failed_tasks", std::to_string(tasks->failed));
  if (!run.resumes.empty()) json.add("resumes", sweep::json_string(run.resumes));
  return json.text();
}

std::expected<vm::RunRow, int> find_run(const std::string& name) {
  std::optional<vm::RunRecord> record = vm::RunRecord::open();
  if (!record) return std::unexpected(no_record());
  std::vector<vm::RunRow> found = name == newest_run ? record->runs() : record->find(name);
  if (name == newest_run && found.size() > 1) found.erase(found.begin(), found.end() - 1);
  if (found.size() == 1) return std::move(found.front());
  if (found.empty()) {
    vm::print_stderr("raddle: no run is named `{}`; `raddle runs list` names them, and `{}` is the newest\n", name,
                     newest_run);
    const std::string begin = name.substr(0, name.find('/'));
    if (struct stat file{}; stat(name.c_str(), &file) == 0)
      vm::print_stderr("  = help: `{}` is a file; a run's own table is `raddle runs table RUN`\n", name);
    else if (begin.size() < name.size() && (begin == newest_run || record->find(begin).size() == 1))
      vm::print_stderr("  = help: a point is shown by `raddle runs logs {0}`, `raddle why {0}`\n", name);
  } else {
    vm::print_stderr("raddle: `{}` may be one of {} runs:\n", name, found.size());
    for (const vm::RunRow& run : found) vm::print_stderr("  {}\n", run.id);
  }
  return std::unexpected(exit_usage);
}

std::expected<vm::RunRow, int> find_sweep(const std::string& name) {
  if (!name.empty()) {
    std::expected<vm::RunRow, int> run = find_run(name);
    if (!run || !is_of_script(*run)) return run;
    vm::print_stderr("raddle: run {} is no sweep\n  = help: {}\n", run->id, command_text(*run));
    return std::unexpected(exit_usage);
  }
  std::optional<vm::RunRecord> record = vm::RunRecord::open();
  if (!record) return std::unexpected(no_record());
  for (const vm::RunRow& run : record->runs() | std::views::reverse)
    if (!is_of_script(run)) return run;
  vm::print_stderr("raddle: no sweep was recorded in this folder\n");
  return std::unexpected(exit_failed);
}

}  // namespace raddle::tool
