#include "compiler/tool/runs/run_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "vm/external/shell_command.hpp"
#include "compiler/tool/command/recorded_run.hpp"
#include "compiler/tool/runs/earlier_works.hpp"
#include "compiler/tool/runs/recorded_points.hpp"
#include "compiler/tool/runs/runs.hpp"
#include "compiler/tool/sweep/failures.hpp"
#include "compiler/tool/formats/json_text.hpp"
#include "compiler/tool/formats/name_list.hpp"
#include "compiler/tool/formats/quantities.hpp"
#include "vm/record/row_digest.hpp"

namespace raddle::tool {

namespace {

using Results = std::vector<std::pair<std::string, std::optional<std::string>>>;  // none: null

/// What is known of a row when it has ended: of a task also the files or values that it was given.
Results results_of(const vm::PointRow& row, bool is_task) {
  Results results;
  for (const sweep::JsonMember& member : sweep::typed_members(row.attempt.results))
    results.emplace_back(member.name,
                         member.is_string || !member.text.empty() ? std::optional(member.text) : std::nullopt);
  if (is_task && !row.attempt.inputs.empty()) results.emplace_back("inputs", row.attempt.inputs);
  return results;
}

using report::Role;
using report::TableColumn;

/// Are the values those of the row, be they numbers or strings?
bool have_values(const std::string& parameters, const vm::PointRow& row) {
  return parameters == row.parameters || sweep::json_members(parameters) == sweep::json_members(row.parameters);
}

std::vector<TableColumn> columns_of(const std::vector<std::string>& names, std::size_t parameters) {
  std::vector<TableColumn> columns;
  for (const std::string& name : names) {
    const std::size_t left = names.size() - columns.size();
    const Role role = columns.size() < parameters ? Role::parameter
                      : left == 3                 ? Role::outcome
                      : left == 2                 ? Role::duration
                      : left == 1                 ? Role::reason
                                                  : Role::result;
    columns.push_back({name, role});
  }
  return columns;
}

}  // namespace

RunTable::RunTable(vm::RunRecord& record, const vm::RunRow& run) : record_(record), run_(run) {
  const bool is_through = run.state == vm::RunState::done || run.state == vm::RunState::failed;
  if (is_of_script(run)) {
    if (!is_through) note_ = "The run is not through: only what has ended is shown.";
    return;
  }
  note_ = is_through ? ask_for_all() : "The run is not through";
  if (table_) return;
  note_ += run.taken == 0 ? ": only what it has done is shown."
                          : fmt::format(
                                ": only the points are shown that it has run itself, not the {} that were "
                                "taken from earlier runs.",
                                sweep::with_commas(run.taken));
  if (changed_table_.empty()) return;
  const auto visit_all = [](const vm::PointRow&) { return true; };
  if (const UnknownParameters unknown = for_each_recorded_point(record, run, std::nullopt, visit_all);
      unknown.points != 0)
    note_ += fmt::format(" The parameters of {} of them are not known: they stood in the table.",
                         sweep::with_commas(unknown.points));
}

std::string RunTable::ask_for_all() {
  const std::expected<SweepRequest, int> request = read_sweep_request(run_.words());
  if (!request) return "Its command line can not be read with the settings as they are";
  std::expected<std::unique_ptr<SweepPlan>, int> plan = make_plan(*request);
  const std::string& table = request->space.table;
  if (!plan && !sweep::Space::make(request->space)) changed_table_ = table;  // it is gone
  if (plan && !table.empty() && is_of_other_points(**plan)) changed_table_ = table;
  if (!changed_table_.empty())
    return fmt::format("The points in `{}` are not those of the run any more", changed_table_);
  if (!plan)
    return request->script.empty() ? "Its command line does not name points any more"
                                   : "The script has errors, or is not there any more";
  plan_ = std::move(*plan);
  plan_->earlier_works = earlier_works(record_, run_, *plan_);
  is_of_earlier_script_ = plan_->keys.work().low != run_.work;
  constexpr const char* changed =
      "The script reads its parameters as something else by now, or has begun or ceased to draw random numbers";
  form_.emplace(plan_->result_form());
  if (is_of_earlier_script_) {
    if (form_->earlier_works.empty() || form_->earlier_works.front().work != run_.work) return changed;
    go_back_to_script();
  }
  earlier_.emplace(record_, *form_, run_.id);
  rows_.emplace(*form_, plan_->cursor, *earlier_);
  if (is_of_earlier_script_ && !has_any_row()) return changed;
  if (!table.empty() && has_strange_row()) {
    changed_table_ = table;
    return fmt::format("The points in `{}` are not those of the run any more, or some are gone with another run",
                       table);
  }
  table_.emplace(*rows_, sweep::Grouping());
  return "";
}

/// The points are enumerated by the script as it is now, and looked for as those of the script that the run had.
void RunTable::go_back_to_script() {
  form_->is_of_earlier_works = true;
  form_->assigned.clear();
  for (const sweep::ResultColumn& column : sweep::block_form(run_.column_words()).results)
    form_->assigned.push_back(column.name);
}

/// If the run has only what earlier ones had, nothing else tells whether its points have other keys by now.
bool RunTable::has_any_row() const {
  bool has_any = false;
  rows_->for_each([&](const sweep::ResultRow& row) { return !(has_any = row.outcome != sweep::not_run); });
  return has_any;
}

/// One that no run has, or that a run has which knows what it has taken, but is not of that.
bool RunTable::has_strange_row() const {
  bool has_strange = false;
  const bool knows_taken = run_.taken == 0 || !record_.stands_on(run_.id).taken.empty();
  rows_->for_each([&](const sweep::ResultRow& row) {
    has_strange = row.outcome == sweep::not_run || (knows_taken && earlier_->has_strange_points());
    return !has_strange;
  });
  return has_strange;
}

/// Are the values of the run's own points others by now?
bool RunTable::is_of_other_points(const SweepPlan& plan) const {
  const sweep::Space& space = plan.space;
  bool are_others = false;
  const UnknownParameters unknown = for_each_recorded_point(record_, run_, std::nullopt, [&](const vm::PointRow& row) {
    are_others =
        row.number > space.size() || !have_values(parameters_json(space.parameters(), space.point(row.number)), row);
    return !are_others;
  });
  return are_others || unknown.points != 0;
}

report::TableSource RunTable::source() const {
  if (!table_) return own_points();
  const std::vector<std::string> results = table_->result_names();
  std::vector<std::string> names = table_->columns(results);
  const std::size_t outcome = names.size() - 3;  // then come the duration and the reason
  const auto visit_all = [this, results, outcome](const report::TableSource::Visit& visit) {
    found_points_ = 0;
    table_->for_each(results, [&](std::span<const std::string_view> cells) {
      if (cells[outcome] != sweep::not_run) ++found_points_;
      return visit(cells);
    });
  };
  return {columns_of(names, plan_->space.parameters().size()), visit_all};
}

std::string RunTable::lost_points() const {
  const std::uint64_t had = run_.ok + run_.failed + run_.taken;
  if (!table_ || found_points_ >= had) return "";
  return fmt::format("{} of its {} not in the record any more{}", sweep::with_commas(had - found_points_),
                     had == 1 ? "point is" : "points are",
                     vm::has_met_damage() ? "" : ": the run from which it had taken them was removed");
}

report::TableSource RunTable::own_points() const {
  sweep::NameList parameters, results;
  const bool is_script = is_of_script(run_);
  if (is_script) parameters.add(number_of_task);
  for_each_recorded_point(record_, run_, std::nullopt, [&](const vm::PointRow& row) {
    for (const auto& [name, value] : sweep::json_members(row.parameters)) parameters.add(name);
    for (const auto& [name, value] : results_of(row, is_script)) results.add(name);
    return true;
  });
  std::vector<std::string> names = parameters.names();
  names.insert(names.end(), results.names().begin(), results.names().end());
  names.insert(names.end(), {"outcome", "duration_s", "reason"});
  const auto visit_all = [this, is_script, parameters, results](const report::TableSource::Visit& visit) {
    for_each_recorded_point(record_, run_, std::nullopt, [&](const vm::PointRow& row) {
      if (!row.is_last) return true;
      const std::size_t parameter_count = parameters.names().size();
      std::vector<std::optional<std::string>> cells(parameter_count + results.names().size());
      for (auto& [name, value] : sweep::json_members(row.parameters))
        if (const auto place = parameters.find(name)) cells[*place] = value;
      if (is_script) cells.front() = std::to_string(row.number);
      for (auto& [name, value] : results_of(row, is_script))
        if (const auto place = results.find(name)) cells[parameter_count + *place] = value;
      cells.emplace_back(name_of(row.attempt.outcome));
      cells.push_back(fmt::format("{:.9f}", row.attempt.duration_s));
      if (std::string reason = sweep::reason_of(row.attempt); !reason.empty())
        cells.emplace_back(std::move(reason));
      else
        cells.emplace_back();
      std::vector<std::string_view> views;
      for (const std::optional<std::string>& cell : cells) views.push_back(cell ? *cell : std::string_view());
      return visit(views);
    });
  };
  return {columns_of(names, parameters.names().size()), visit_all};
}

void RunTable::for_each_inputs(
    const std::function<void(NamedValues parameters, const std::string& inputs)>& visit) const {
  if (!table_) {
    record_.for_each_point(run_.id, [&](const vm::PointRow& row) {
      if (row.is_last && !row.attempt.inputs.empty()) visit(sweep::json_members(row.parameters), row.attempt.inputs);
      return true;
    });
    return;
  }
  if (plan_->script && plan_->script->runs_in_blocks()) return;  // it only computes numbers
  rows_->for_each([&](const sweep::ResultRow& row) {
    if (row.inputs.empty()) return true;
    NamedValues parameters;
    for (std::size_t i = 0; i < row.values.size(); ++i)
      parameters.emplace_back(rows_->parameters()[i].name, row.values[i]);
    visit(std::move(parameters), std::string(row.inputs));
    return true;
  });
}

std::string RunTable::again(std::uint64_t number) const {
  if (plan_ && !is_of_earlier_script_ && number >= 1 && number <= plan_->space.size())
    return vm::shell_line(plan_->command.words_for(plan_->space.point(number), {.run = run_.id}));
  std::string command = fmt::format("raddle runs logs {} {}", run_.id, number);
  if (!is_of_script(run_)) return command;
  record_.for_each_attempt(run_.id, number, [&](const vm::PointRow& row) {
    for (const auto& [name, value] : sweep::json_members(row.parameters))
      if (name == "work" && row.attempt.outcome != vm::PointOutcome::failed) command = value;  // it is a program
    return false;
  });
  return command;
}

namespace {

void add_span(std::vector<report::Span>& spans, const vm::RunRow& run, const vm::PointRow& row, std::uint64_t first) {
  const vm::Attempt& attempt = row.attempt;
  spans.push_back({.start_s = attempt.started - run.started,
                   .duration_s = attempt.duration_s,
                   .first = first,
                   .failed = attempt.outcome == vm::PointOutcome::ok ? 0u : 1u,
                   .visited = spans.size()});
}

}  // namespace

std::vector<report::Span> task_spans_of(vm::RunRecord& record, const vm::RunRow& run) {
  std::vector<report::Span> spans;
  record.for_each_task(run.id, std::nullopt, [&](const vm::PointRow& row) {
    add_span(spans, run, row, row.point);
    return true;
  });
  return spans;
}

std::vector<report::Span> spans_of(vm::RunRecord& record, const vm::RunRow& run) {
  std::vector<report::Span> spans;
  record.for_each_point(run.id, [&](const vm::PointRow& row) {
    add_span(spans, run, row, row.number);
    return true;
  });
  for (const vm::BlockHead& head : record.blocks_of(run.id)) {
    const vm::BlockRow block = record.block(head.row);
    spans.push_back({.start_s = block.started - run.started,
                     .duration_s = block.duration_s,
                     .first = block.first,
                     .count = block.keys.size(),
                     .visited = spans.size()});
  }
  return spans;
}

}  // namespace raddle::tool
