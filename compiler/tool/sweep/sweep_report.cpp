#include "compiler/tool/sweep/sweep_report.hpp"

#include <fmt/format.h>
#include <signal.h>

#include "vm/external/shell_command.hpp"
#include "compiler/tool/command/recorded_run.hpp"
#include "compiler/tool/command/session.hpp"
#include "compiler/tool/process/changed_numbers.hpp"
#include "compiler/tool/sweep/failures.hpp"
#include "compiler/tool/formats/json_text.hpp"
#include "compiler/tool/formats/path_text.hpp"
#include "compiler/tool/formats/quantities.hpp"
#include "vm/value/standard_error.hpp"

namespace raddle::tool {

namespace {

constexpr std::size_t shown_groups = 10;

void report_failures(const sweep::Failures& failures, const sweep::CommandTemplate& command, const std::string& run) {
  const std::vector<sweep::FailureGroup> groups = failures.groups();
  for (std::size_t i = 0; i < groups.size() && i < shown_groups; ++i) {
    const sweep::FailureGroup& group = groups[i];
    vm::print_stderr("raddle: {} failed: {}{}{}\n  as point {}: {}\n", sweep::with_commas(group.count),
                     sweep::shortened(group.what), group.line.empty() ? "" : "; ", sweep::shortened(group.line),
                     group.first.number,
                     sweep::shortened(vm::shell_line(command.words_for(group.first, {.run = run}))));
  }
  if (groups.size() > shown_groups)
    vm::print_stderr("raddle: and {} more kinds of failures\n", groups.size() - shown_groups);
}

}  // namespace

void report_sweep(const SweepEnd& end, const sweep::Failures& failures, const sweep::CommandTemplate& command) {
  using sweep::with_commas;
  report_failures(failures, command, end.run.id);
  const sweep::SweepCounts& counts = end.counts;
  const std::uint64_t ended = counts.ok + counts.failed + counts.taken;
  std::string text = fmt::format("run {}: {}", end.run.id, with_commas(ended));
  if (end.stop != sweep::SweepStop::none) text += fmt::format(" of {}", with_commas(end.run.points));
  text += fmt::format(" point{}, ", ended == 1 && end.stop == sweep::SweepStop::none ? "" : "s");
  if (counts.taken != 0) text += fmt::format("{} from the record, ", with_commas(counts.taken));
  if (counts.failed != 0) text += fmt::format("{} failed, ", with_commas(counts.failed));
  if (counts.retried != 0) text += fmt::format("{} retries, ", with_commas(counts.retried));
  if (!end.is_quiet) vm::print_stderr("raddle: {}{}\n", text, sweep::seconds_text(end.seconds));
  if (end.stop == sweep::SweepStop::failures)
    vm::print_stderr("raddle: stopped early: {}\n",
                     end.has_limit
                         ? "more have failed than --max-fails says"
                         : fmt::format("the first {} runs to end have all failed; -k goes on", sweep::first_runs));
  if (end.is_quiet) return;
  if (end.stop == sweep::SweepStop::asked || end.stop == sweep::SweepStop::failures)
    vm::print_stderr("raddle: it goes on with: raddle sweep --resume={}\n", end.run.id);
  else if (counts.failed != 0)
    vm::print_stderr("raddle: the failed ones once more: raddle rerun {} --failed\n", end.run.id);
}

std::string change_text(const sweep::InputFiles::Change& change) {
  return fmt::format("raddle: `{}` {} again\n", sweep::path_text(change.path),
                     change.is_lost_output ? "is not there any more: points whose output is missing are run"
                                           : "has changed: points that have read it are run");
}

void report_changed_files(const sweep::InputFiles::Changes& changes) {
  warn_of_changed_numbers();
  const auto tell = [](const std::vector<std::string>& paths, std::string_view what) {
    if (paths.empty()) return;
    const std::string more =
        paths.size() == 1 ? "" : fmt::format(" (and {})", sweep::counted(paths.size() - 1, "more file"));
    vm::print_stderr("raddle: `{}`{} has changed while points ran: {}\n", sweep::path_text(paths.front()), more, what);
  };
  tell(changes.edited, "the same line runs those again that have read it before or meanwhile");
  tell(changes.written, "it counts as written by them; if they read it, --input FILE");
}

std::string unwritten_text(const std::string& error, const vm::Recorder::Unwritten& unwritten, const std::string& run) {
  const std::uint64_t lost = unwritten.ok + unwritten.failed;
  return fmt::format("{}\n  = help: it goes on with: raddle sweep --resume={}{}", error, run,
                     lost == 0 ? ""
                               : fmt::format("; {} that ended can not be recorded, and {} run again",
                                             sweep::counted(lost, "point"), lost == 1 ? "is" : "are"));
}

std::string sweep_json(const SweepEnd& end, const sweep::Failures& failures, const sweep::CommandTemplate& command,
                       int exit_code) {
  std::string groups;
  for (const sweep::FailureGroup& group : failures.groups()) {
    sweep::JsonObject json;
    json.add("count", std::to_string(group.count));
    json.add("what", sweep::json_string(group.what));
    json.add("stderr", sweep::json_string(group.line));
    json.add("point", std::to_string(group.first.number));
    json.add("command", sweep::json_string(vm::shell_line(command.words_for(group.first, {.run = end.run.id}))));
    groups += (groups.empty() ? "" : ",") + json.text();
  }
  return json_line(fmt::format("\"run\":{},\"failures\":[{}],\"exit_code\":{}", run_json(end.run), groups, exit_code));
}

std::string point_line(const sweep::Space& space, const sweep::Point& point, const sweep::Attempt& attempt,
                       bool is_last) {
  return fmt::format("raddle: point {}: {}: {}{}, {:.3f} s\n", sweep::with_commas(point.number),
                     sweep::values_text(space.parameters(), point), sweep::shortened(sweep::failure_text(attempt)),
                     is_last ? "" : ", is tried again", attempt.duration_s);
}

std::string block_line(const vm::BlockRow& block) {
  if (block.first == block.last)
    return fmt::format("raddle: point {}: ok, {:.3f} s\n", sweep::with_commas(block.first), block.duration_s);
  const std::string range = fmt::format("{} to {}", sweep::with_commas(block.first), sweep::with_commas(block.last));
  return fmt::format("raddle: {}: ok, {:.3f} s\n",
                     block.numbers.empty()
                         ? "points " + range
                         : fmt::format("{} of the points {}", sweep::with_commas(block.numbers.size()), range),
                     block.duration_s);
}

std::string stop_message(const SweepBreak& at) {
  using sweep::with_commas;
  const sweep::SweepCounts& counts = at.counts;
  const std::uint64_t ended = counts.ok + counts.failed + counts.taken + counts.running;
  const std::uint64_t left_points = counts.candidates - std::min(ended, counts.candidates);
  const std::string running = with_commas(counts.running);
  if (at.signal == 0 && left_points == 0)
    return fmt::format("\nraddle: the time of --time-limit is up: {} running, which are the last\n", running);
  const std::string left = with_commas(left_points);
  const std::string resume = fmt::format("resume with `raddle sweep --resume={}`", at.run);
  if (at.signal == 0)
    return fmt::format("\nraddle: the time of --time-limit is up: {} running, which may end, {} left; {}\n", running,
                       left, resume);
  if (!at.lets_end)  // of points that are computed together, those that are through are kept
    return fmt::format("\nraddle: {} running, ended now: up to {} of {} left; {}\n", running,
                       with_commas(left_points + counts.running), sweep::counted(counts.candidates, "point"), resume);
  return fmt::format("\nraddle: {} running, {} left; {} to stop now; {}\n", running, left,
                     at.signal == SIGINT ? "Ctrl-C again" : "a second signal", resume);
}

int exit_code_of(const SweepEnd& end) {
  if (end.stop != sweep::SweepStop::none) return end.signal == SIGINT ? exit_interrupted : exit_ended_early;
  return end.counts.failed == 0 ? exit_ok : exit_sweep_failed;
}

}  // namespace raddle::tool
