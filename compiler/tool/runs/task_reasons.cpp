#include "compiler/tool/runs/task_reasons.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "compiler/tool/command/recorded_run.hpp"
#include "compiler/tool/runs/runs.hpp"
#include "compiler/tool/formats/json_text.hpp"

namespace raddle::tool {

namespace {

constexpr std::size_t compared_tasks = 20'000;  // earlier ones among which the nearest is looked for

std::string member(const NamedValues& values, std::string_view name) {
  const auto found = std::ranges::find(values, name, [](const auto& each) { return each.first; });
  return found == values.end() ? std::string() : found->second;
}

/// A row as it is compared.
struct Task {
  std::string run;
  std::uint64_t point, number;
  std::string name, work, source, code;
  NamedValues inputs, reads;
  bool has_succeeded;

  Task(const vm::RunRow& of, const vm::PointRow& row)
      : run(of.id), point(row.point), number(row.number), has_succeeded(row.attempt.outcome == vm::PointOutcome::ok) {
    const NamedValues parameters = sweep::json_members(row.parameters),
                      results = sweep::json_members(row.attempt.results);
    name = member(parameters, "task");
    work = member(parameters, "work");
    source = member(results, "source");
    code = member(results, "code");
    inputs = sweep::json_members(row.attempt.inputs);
    reads = sweep::json_members(member(results, "reads"));
  }
  bool is_program() const { return source.empty(); }
  std::string title() const { return task_name(point, number); }
};

class TaskExplainer {
 public:
  TaskExplainer(vm::RunRecord& record, const vm::RunRow& run) : record_(record), run_(run) {
    for (const vm::RunRow& each : record.runs()) {
      if (each.id == run.id) break;
      earlier_.insert(earlier_.begin(), each);
    }
  }

  std::optional<PointReason> explain(std::uint64_t point, std::uint64_t number) {
    std::optional<vm::PointRow> found;
    const auto take = [&](const vm::PointRow& row) {
      if (row.number == number) found = row;  // the last attempt
      return true;
    };
    if (point == 0)
      record_.for_each_attempt(run_.id, number, take);
    else
      record_.for_each_task(run_.id, point, take);
    if (!found) return std::nullopt;
    PointReason reason{.number = number, .point = point, .parameters = found->parameters};
    const Task task(run_, *found);
    task.is_program() ? explain_program(task, reason) : explain_call(task, reason);
    return reason;
  }

 private:
  /// The earlier task that differs least: other code counts as much as another input.
  std::optional<Task> nearest(const Task& task) {
    std::optional<Task> found;
    std::size_t fewest = 0, compared = 0;
    for (const vm::RunRow& each : earlier_) {
      for_each_task(each, [&](const vm::PointRow& row) {
        if (++compared > compared_tasks) return false;
        Task other(each, row);
        if (other.name != task.name || other.is_program() != task.is_program() ||
            (task.is_program() && other.work != task.work))
          return true;
        const std::size_t count = differences_of(task.inputs, other.inputs).size() + (other.code != task.code ? 1 : 0);
        if (!found || count < fewest) {
          found = std::move(other);
          fewest = count;
        }
        return fewest > 0;
      });
      if (compared >= compared_tasks || (found && fewest == 0)) break;
    }
    return found;
  }

  void for_each_task(const vm::RunRow& run, const std::function<bool(const vm::PointRow&)>& visit) {
    if (is_of_script(run))
      record_.for_each_point(run.id, visit);
    else
      record_.for_each_task(run.id, std::nullopt, visit);
  }

  void explain_program(const Task& task, PointReason& reason) {
    reason.because = "programs are always run";
    const std::optional<Task> other = nearest(task);
    if (!other) return;
    refer(reason, task, *other);
    reason.because += fmt::format(
        "; run {} did the same, as {}, {}", other->run, other->title(),
        reason.differences.empty() ? "with the same inputs" : "with other inputs: " + text_of(reason.differences));
  }

  void explain_call(const Task& task, PointReason& reason) {
    const std::optional<Task> other = nearest(task);
    if (other) refer(reason, task, *other);
    const bool is_same = other && reason.differences.empty() && other->code == task.code;
    if (task.source == "record") {
      reason.state = "from the record";
      reason.because = is_same
                           ? fmt::format("run {} made the same call, as {}", other->run, other->title())
                           : "the same call was made before, in this run or in one that is not in the record any more";
    } else if (!other) {
      reason.because = "no earlier run in the record has called it";
    } else if (is_same) {
      if (other->has_succeeded) reason.differences = changed_files(task.reads, other->reads);
      reason.because = fmt::format("run {} made the same call, as {}, but {}", other->run, other->title(),
                                   !other->has_succeeded         ? "it failed"
                                   : !reason.differences.empty() ? not_as_before(reason.differences)
                                                                 : "its result is not kept, or --no-cache was said");
    } else if (reason.differences.empty()) {
      reason.because = fmt::format("the function, or one that it calls, has changed since run {}", other->run);
    } else {
      reason.because =
          fmt::format("no earlier run has this call; most like it is {} of run {}: {}{}", other->title(), other->run,
                      text_of(reason.differences), other->code == task.code ? "" : "; its code has changed, too");
    }
  }

  static void refer(PointReason& reason, const Task& task, const Task& other) {
    reason.earlier_run = other.run;
    reason.earlier_number = other.number;
    reason.earlier_point = other.point;
    reason.differences = differences_of(task.inputs, other.inputs);
  }

  vm::RunRecord& record_;
  const vm::RunRow& run_;
  std::vector<vm::RunRow> earlier_;  // the latest first
};

}  // namespace

std::vector<std::optional<PointReason>> task_reasons_of(vm::RunRecord& record, const vm::RunRow& run,
                                                        std::uint64_t point, std::span<const std::uint64_t> numbers) {
  TaskExplainer explainer(record, run);
  std::vector<std::optional<PointReason>> reasons;
  for (const std::uint64_t number : numbers) reasons.push_back(explainer.explain(point, number));
  return reasons;
}

}  // namespace raddle::tool
