// `raddle rerun`: points of a recorded sweep once more.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "compiler/driver/commands.hpp"
#include "compiler/driver/earlier_works.hpp"
#include "compiler/driver/runs.hpp"
#include "compiler/driver/sweep_plan.hpp"
#include "compiler/driver/sweep_request.hpp"
#include "compiler/driver/usage.hpp"
#include "compiler/driver/verbs.hpp"
#include "compiler/sweep/quantities.hpp"

namespace raddle::driver {

namespace {

struct Rerun {
  std::string name;  ///< of the run
  bool only_failed = false, runs_all = false;
  SweepRequest request = {};  ///< of the run, with what the words say
};

constexpr const char* footer =
    R"(Without --failed or --all: what failed, is missing because the run was ended, or is another one by now, as the script
or the table of --from, or a file that a command names, the program among them, has changed.
)";

/// What the words do not say of the sweep stays as it is.
void add_rerun_options(CLI::App& app, Rerun& rerun) {
  app.description(
      "raddle rerun: points of a recorded sweep once more\n\nexamples:\n  raddle rerun 261121-150412-k7\n"
      "  raddle rerun --failed -k -j 4\n  raddle rerun k7 --all\n");
  app.option_defaults()->take_last();
  app.add_option("RUN", rerun.name, "A run's id, its beginning or its end; none: the latest sweep")->type_name("");
  CLI::Option* failed = app.add_flag("--failed", rerun.only_failed, "Only the points that failed");
  app.add_flag("--all", rerun.runs_all, "All points, whatever the record has")->excludes(failed);
  add_run_options(app, rerun.request);
  add_result_options(app, rerun.request);
  app.footer(footer);
}

/// @return an exit code if everything has been said
std::optional<int> parse(const std::vector<std::string>& words, Rerun& rerun) {
  CLI::App app("", "raddle rerun");
  add_rerun_options(app, rerun);
  return parse_verb(app, words, "rerun");
}

/// Are the points still those that failed? @return false if not, all said
bool are_the_same(const std::vector<vm::PointRow>& failed, const vm::RunRow& run, const SweepPlan& plan) {
  for (const vm::PointRow& row : failed) {
    const std::string now = row.number > plan.space.size()
                                ? "no longer there"
                                : parameters_json(plan.space.parameters(), plan.space.point(row.number)) + " now";
    if (now == row.parameters + " now") continue;
    fmt::print(stderr,
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
bool tell_of_changed_script(const vm::RunRow& run, const SweepPlan& plan, std::size_t failed, bool has_whole_table) {
  if (plan.keys.work().low == run.work) return true;
  if (plan.earlier_works.empty() || plan.earlier_works.front().work != run.work) {
    fmt::print(stderr,
               "raddle: the script or its data have changed since run {}, in its parameters or in whether it draws "
               "random numbers: "
               "its points are other ones now\n  = help: all of them anew: {}\n",
               run.id, command_text(run));
    return false;
  }
  if (!has_whole_table) {
    fmt::print(stderr,
               "raddle: the script or its data have changed since run {}: as it is now, it runs the {} that failed\n"
               "  = help: all points anew: {}\n",
               run.id, sweep::with_commas(failed), command_text(run));
    return true;
  }
  const std::uint64_t others = run.ok + run.taken;
  fmt::print(stderr,
             "raddle: the script or its data have changed since run {}: as it is now, it runs the {} that failed; {} "
             "other point{} "
             "stay{} in the table as the earlier script gave {}\n  = help: all of them anew: {}\n",
             run.id, sweep::with_commas(failed), sweep::with_commas(others), others == 1 ? "" : "s",
             others == 1 ? "s" : "", others == 1 ? "it" : "them", command_text(run));
  return true;
}

int rerun_failed(SweepRequest& request, const vm::RunRow& run) {
  vm::RunRecord record = *vm::RunRecord::open();
  const std::vector<vm::PointRow> failed = record.failed_points(run.id);
  if (failed.empty()) {
    fmt::print(stderr, "raddle: no point of run {} failed\n", run.id);
    return exit_ok;
  }
  for (const vm::PointRow& row : failed) request.numbers.push_back(row.number);
  const std::expected<std::unique_ptr<SweepPlan>, int> made = make_plan(request);
  if (!made) return made.error();
  SweepPlan& plan = **made;
  plan.earlier_works = earlier_works(record, run, plan);
  if (!are_the_same(failed, run, plan) || !tell_of_changed_script(run, plan, failed.size(), !request.output.empty()))
    return exit_usage;
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
    rerun.request.kind = rerun.only_failed                             ? run_kind::rerun_failed
                         : rerun.runs_all || !rerun.request.use_record ? run_kind::rerun_all
                                                                       : run_kind::rerun;
    rerun.request.use_record = rerun.request.kind == run_kind::rerun;
    if (rerun.request.use_record) rerun.request.since = taken_since(*run);
    return rerun.only_failed ? rerun_failed(rerun.request, *run) : run_sweep(rerun.request);
  });
}

}  // namespace

const Verb rerun_verb = {.name = "rerun",
                         .about = "Run points of a sweep again: rerun RUN --failed",
                         .run = rerun_command,
                         .describe = [](CLI::App& app) { describe_with(app, add_rerun_options); }};

}  // namespace raddle::driver
