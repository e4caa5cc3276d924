// `raddle rerun`: points of a recorded sweep once more.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>

#include "compiler/tool/command/recorded_run.hpp"
#include "compiler/tool/command/usage_error.hpp"
#include "compiler/tool/command/session.hpp"
#include "compiler/tool/runs/earlier_works.hpp"
#include "compiler/tool/runs/runs.hpp"
#include "compiler/tool/sweep/sweep_plan.hpp"
#include "compiler/tool/sweep/sweep_request.hpp"
#include "compiler/tool/command/words.hpp"
#include "compiler/tool/command/verb.hpp"
#include "compiler/tool/sweep/where.hpp"
#include "compiler/tool/formats/json_text.hpp"
#include "compiler/tool/formats/path_text.hpp"
#include "compiler/tool/formats/quantities.hpp"
#include "vm/value/standard_error.hpp"

namespace raddle::tool {

namespace {

struct Rerun {
  std::string name;  ///< of the run
  bool only_failed = false, runs_all = false;
  std::string where = "";
  SweepRequest request = {};  ///< of the run, with what the words say
};

constexpr const char* footer =
    R"(Without --failed or --all: what failed, is missing because the run was ended, or is another one by now, as the script
or the table of --from, or a file that a command or a script's program names, the program among them, has changed, or
an output of it is not there any more.
)";

/// What the words do not say of the sweep stays as it is.
void add_rerun_options(CLI::App& app, Rerun& rerun) {
  app.description(
      "raddle rerun: points of a recorded sweep once more\n\nexamples:\n  raddle rerun 261121-150412-k7\n"
      "  raddle rerun --failed -j 4\n  raddle rerun k7 --where 'a > 3'\n  raddle rerun k7 --all\n");
  app.option_defaults()->take_last();
  app.add_option("RUN", rerun.name, "A run's id, its beginning or its end; none: the latest sweep")->type_name("");
  CLI::Option* failed =
      app.add_flag("--failed", rerun.only_failed,
                   "Only the points that failed, and have not ended well since: also if the first of them fail again");
  CLI::Option* all = app.add_flag("--all", rerun.runs_all, "All points, whatever the record has")->excludes(failed);
  app.add_option("--where", rerun.where, "Only the points for which this holds, anew: an expression as that of a sweep")
      ->type_name("EXPR")
      ->check(is_expression)
      ->excludes(all);
  add_run_options(app, rerun.request);
  add_result_options(app, rerun.request);
  app.footer(footer);
}

/// Without the words of an option that takes a value.
std::vector<std::string> without(const std::string& option, const std::vector<std::string>& words) {
  std::vector<std::string> left;
  const auto command = std::ranges::find(words, "--");
  for (auto word = words.begin(); word != words.end(); ++word) {
    if (word >= command || !(*word == option || word->starts_with(option + "=")))
      left.push_back(*word);
    else if (*word == option && word + 1 != command)
      ++word;  // its value
  }
  return left;
}

/// The words of a run with what else is said of it now: so they are recorded, and whoever goes on with it has the same.
std::vector<std::string> with_said(std::vector<std::string> words, const CLI::App& said) {
  static constexpr std::array of_this_time = {"json", "quiet", "verbose", "profile", "no-cache", "progress"};
  std::vector<std::string> added;
  for (const CLI::Option* option : said.get_options()) {
    const bool is_of_sweep = option->get_group() == "Results" || option->get_group() == "Running";
    if (option->count() == 0 || !is_of_sweep || option->get_lnames().empty()) continue;
    const std::string name = option->get_lnames().front();
    if (std::ranges::find(of_this_time, name) != of_this_time.end()) continue;
    const std::string word = "--" + name;
    if (option->get_expected_max() > 1) words = without(word, words);  // else the last one counts
    for (const std::string& value : option->results())
      added.push_back(option->get_items_expected_max() == 0 ? word : word + "=" + value);
  }
  words.insert(std::ranges::find(words, "--"), added.begin(), added.end());
  return words;
}

/// @return an exit code if everything has been said
std::optional<int> parse(const std::vector<std::string>& words, Rerun& rerun) {
  CLI::App app("", "raddle rerun");
  add_rerun_options(app, rerun);
  const std::optional<int> code = parse_verb(app, words, "rerun");
  if (!code && app.get_option("--output")->count() > 1) return usage_error(one_output, "rerun");
  rerun.request.words = with_said(std::move(rerun.request.words), app);
  return code;
}

/// Are the points still those that failed? @return false if not, all said
bool are_the_same(const std::vector<vm::PointRow>& failed, const vm::RunRow& run, const SweepPlan& plan) {
  for (const vm::PointRow& row : failed) {
    std::string now = "no longer there";
    if (row.number <= plan.space.size()) {
      now = parameters_json(plan.space.parameters(), plan.space.point(row.number));
      if (sweep::json_members(now) == sweep::json_members(row.parameters)) continue;
      now += " now";
    }
    vm::print_stderr(
        "raddle: the points of run {} have changed since: point {} was {}, and is {}\n"
        "  = help: a sweep runs what is new or failed: {}\n",
        run.id, row.number, row.parameters, now, command_text(run));
    return false;
  }
  return true;
}

/// Says what becomes of the other points if the script is another one than that of the run.
/// @param has_whole_table  it is written to a file, and not only what is run again shown
/// @return false if the table can not have them any more, all said
bool tell_of_changed_script(const vm::RunRow& run, const SweepPlan& plan, std::uint64_t chosen, bool has_whole_table) {
  if (plan.keys.work().low == run.work) return true;
  if (plan.earlier_works.empty() || plan.earlier_works.front().work != run.work) {
    vm::print_stderr(
        "raddle: the script or its data have changed since run {}, in its parameters or in whether it draws "
        "random numbers: "
        "its points are other ones now\n  = help: all of them anew: {}\n",
        run.id, command_text(run));
    return false;
  }
  if (!has_whole_table) {
    vm::print_stderr(
        "raddle: the script or its data have changed since run {}: as it is now, it runs {} of them again\n"
        "  = help: all points anew: {}\n",
        run.id, sweep::with_commas(chosen), command_text(run));
    return true;
  }
  const std::uint64_t others = run.ok + run.failed + run.taken - std::min(run.ok + run.failed + run.taken, chosen);
  vm::print_stderr(
      "raddle: the script or its data have changed since run {}: as it is now, it runs {} of them again; {} "
      "other point{} "
      "stay{} in the table as the earlier script gave {}\n  = help: all of them anew: {}\n",
      run.id, sweep::with_commas(chosen), sweep::with_commas(others), others == 1 ? "" : "s", others == 1 ? "s" : "",
      others == 1 ? "it" : "them", command_text(run));
  return true;
}

/// The points of the sweep, or those of `numbers` if there are any, for which the expression holds too.
/// @return or an exit code, all said
std::expected<std::vector<std::uint64_t>, int> points_where(const std::string& where,
                                                            std::vector<std::uint64_t> numbers, const SweepPlan& plan) {
  const auto holds = make_filter(where, plan.space.parameters(),
                                 plan.script ? plan.script->fixed_parameters() : std::vector<FixedParameter>());
  if (!holds) return std::unexpected(holds.error());
  sweep::CursorOptions options = plan.cursor;
  options.order_seed.reset();
  options.numbers = std::move(numbers);
  options.filter = [&](const std::vector<sweep::Point>& points) {
    auto kept = (*holds)(points);
    const auto in_sweep = kept && plan.cursor.filter ? plan.cursor.filter(points) : kept;
    if (!kept || !in_sweep) return in_sweep;
    for (std::size_t i = 0; i < points.size(); ++i) (*kept)[i] = (*kept)[i] && (*in_sweep)[i];
    return kept;
  };
  sweep::Cursor cursor(plan.space, options);
  std::vector<std::uint64_t> found;
  while (const std::optional<std::uint64_t> number = cursor.next_number()) found.push_back(*number);
  if (cursor.error().empty()) return found;
  vm::print_stderr("raddle: {}\n", cursor.error());
  return std::unexpected(exit_failed);
}

/// Says that a program, what it reads or what it has written are not as in the run, whose other results stay.
void tell_of_changed_files(vm::RunRecord& record, const vm::RunRow& run, const SweepPlan& plan) {
  std::optional<sweep::InputFiles::Change> changed;
  record.for_each_point(run.id, [&](const vm::PointRow& row) {
    if (row.attempt.outcome == vm::PointOutcome::ok && row.number <= plan.space.size())
      changed = plan.inputs->changed(row.attempt.inputs, plan.space.point(row.number));
    return !changed;
  });
  if (changed)
    vm::print_stderr(
        "raddle: `{}` {} since run {}; points that are not run again stay in the table as they were\n"
        "  = help: all that it concerns anew: raddle rerun {}\n",
        sweep::path_text(changed->path), changed->is_lost_output ? "was removed" : "has changed", run.id, run.id);
}

/// Only the failed ones, only those of --where, or what both say.
int rerun_some(const SweepRequest& request, const vm::RunRow& run, const Rerun& rerun) {
  vm::RunRecord record = *vm::RunRecord::open();
  std::vector<std::uint64_t> numbers;
  std::vector<vm::PointRow> failed;
  if (rerun.only_failed) {
    failed = record.failed_points(run.id);
    if (failed.empty()) {
      vm::print_stderr("raddle: no point of run {} failed\n", run.id);
      return exit_ok;
    }
    for (const vm::PointRow& row : failed) numbers.push_back(row.number);
  }
  const std::expected<std::unique_ptr<SweepPlan>, int> made = make_plan(request);
  if (!made) return made.error();
  SweepPlan& plan = **made;
  plan.earlier_works = earlier_works(record, run, plan);
  if (!are_the_same(failed, run, plan)) return exit_usage;
  if (!rerun.where.empty()) {
    auto found = points_where(rerun.where, std::move(numbers), plan);
    if (!found) return found.error();
    numbers = std::move(*found);
    if (numbers.empty()) {
      vm::print_stderr("raddle: --where leaves none of the points\n");
      return exit_ok;
    }
  }
  if (!tell_of_changed_script(run, plan, numbers.size(), !request.output.empty())) return exit_usage;
  if (!request.script_options.is_quiet) tell_of_changed_files(record, run, plan);
  plan.cursor.numbers = std::move(numbers);
  return run_plan(request, plan);
}

int rerun_command(const std::vector<std::string>& words) {
  Rerun rerun;
  if (const std::optional<int> code = parse(words, rerun)) return *code;
  return with_record([&]() -> int {
    const std::expected<vm::RunRow, int> run = find_sweep(rerun.name);
    if (!run) return run.error();
    std::vector<std::string> again = run->words();
    if (!rerun.request.profile.empty())
      again.insert(std::ranges::find(again, "--"), "--profile=" + rerun.request.profile);
    std::expected<SweepRequest, int> request = read_sweep_request(again);
    if (!request) return request.error();
    rerun.request = std::move(*request);
    rerun.request.use_record = true;  // whatever the run was told
    if (const std::optional<int> code = parse(words, rerun)) return *code;
    rerun.request.resumes = run->id;
    rerun.request.kind = !rerun.where.empty()                          ? run_kind::rerun_some
                         : rerun.only_failed                           ? run_kind::rerun_failed
                         : rerun.runs_all || !rerun.request.use_record ? run_kind::rerun_all
                                                                       : run_kind::rerun;
    rerun.request.use_record &= rerun.request.kind == run_kind::rerun || rerun.request.kind == run_kind::rerun_failed;
    // what failed and has ended well since is not run once more
    if (rerun.request.kind == run_kind::rerun_failed) rerun.request.since = run->id;
    if (rerun.only_failed && !rerun.request.run.keep_going) {  // that points of it fail is known
      rerun.request.run.keep_going = true;
      rerun.request.words.insert(std::ranges::find(rerun.request.words, "--"), "--keep-going");
    }
    if (rerun.request.kind == run_kind::rerun) rerun.request.since = taken_since(*run);
    const bool runs_some = rerun.only_failed || !rerun.where.empty();
    return runs_some ? rerun_some(rerun.request, *run, rerun) : run_sweep(rerun.request);
  });
}

}  // namespace

const Verb rerun_verb = {.name = "rerun",
                         .about = "Run points of a sweep again: rerun RUN --failed",
                         .run = rerun_command,
                         .describe = [](CLI::App& app) { describe_with(app, add_rerun_options); }};

}  // namespace raddle::tool
