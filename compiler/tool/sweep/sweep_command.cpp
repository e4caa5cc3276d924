// `raddle sweep` from the request to the exit code.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <system_error>

#include "vm/external/shell_command.hpp"
#include "compiler/tool/command/recorded_run.hpp"
#include "compiler/tool/command/usage_error.hpp"
#include "compiler/tool/sweep/column_names.hpp"
#include "compiler/tool/sweep/other_runs.hpp"
#include "compiler/tool/sweep/make_runner.hpp"
#include "compiler/tool/sweep/program_runner.hpp"
#include "compiler/tool/process/signals.hpp"
#include "compiler/tool/sweep/sweep_plan.hpp"
#include "compiler/tool/sweep/sweep_preview.hpp"
#include "compiler/tool/sweep/sweep_request.hpp"
#include "compiler/tool/sweep/sweep_report.hpp"
#include "compiler/tool/sweep/sweep_table.hpp"
#include "compiler/tool/run/time_limit.hpp"
#include "compiler/tool/command/verb.hpp"
#include "compiler/tool/formats/path_text.hpp"
#include "compiler/tool/sweep/print_script.hpp"
#include "compiler/tool/formats/quantities.hpp"
#include "compiler/tool/sweep/results.hpp"
#include "vm/foreign/crash_notice.hpp"
#include "vm/record/recorder.hpp"
#include "vm/value/standard_error.hpp"
#include "vm/value/temporaries.hpp"
#include "vm/value/unix_time.hpp"

namespace raddle::tool {

namespace {

vm::RunRow run_row(const SweepRequest& request, const SweepPlan& plan, std::uint64_t points) {
  vm::RunRow row;
  row.work = plan.keys.work().low;
  row.collect = plan.collect;
  if (plan.script && plan.script->runs_in_blocks()) {
    sweep::BlockForm form{.results = plan.script->columns(), .parameters = {}};
    for (const sweep::Parameter& each : plan.space.parameters()) form.parameters.emplace_back(each.name, each.read_as);
    row.columns = text_of(form);
  }
  row.kind = request.kind;
  row.started = vm::unix_time();
  row.points = points;
  row.resumes = request.resumes;
  for (const std::string& word : request.words) (row.command += word) += '\0';
  return row;
}

/// The lines of --verbose take the place of the bar.
sweep::ProgressStyle progress_style(const SweepRequest& request) {
  const auto& [name, options] = std::tie(request.progress, request.script_options);
  if (name == "none" || options.is_quiet || (name == "auto" && options.is_verbose)) return sweep::ProgressStyle::none;
  const bool is_bar = name == "auto" && can_redraw(STDERR_FILENO);
  return is_bar ? sweep::ProgressStyle::bar : sweep::ProgressStyle::plain;
}

vm::RunState state_of(sweep::SweepStop stop, int signal, const sweep::SweepCounts& counts) {
  if (stop == sweep::SweepStop::none) return counts.failed == 0 ? vm::RunState::done : vm::RunState::failed;
  return signal == SIGINT ? vm::RunState::interrupted : vm::RunState::stopped;
}

/// The sweep with all that it works with.
class SweepRun {
 public:
  SweepRun(const SweepRequest& request, const SweepPlan& plan)
      : request_(request), plan_(plan), form_(plan.result_form()), cursor_(plan.space, plan.cursor) {}

  int run() {
    SignalWatch signals(
        {SIGINT, SIGTERM, SIGUSR1, SIGHUP}, [this](int signal, unsigned count) { hear(signal, count); },
        [this] { tell_of_programs(); });
    vm::RunRow row = run_row(request_, plan_, cursor_.size());
    std::expected<std::unique_ptr<sweep::PointRunner>, int> runner =
        make_runner(plan_, cursor_.size(), request_.timeout_s);
    if (!runner) return runner.error();
    runner_ = runner->get();
    vm::Recorder recorder(row);
    vm::RunRecord record = vm::RunRecord::create(wait_while_running);
    const vm::CrashKeeper crash_keeper([&recorder] { recorder.wait_until_written(); });
    row.id = recorder.id();
    runner_->begin_run(recorder);
    OtherRuns others(request_, plan_, form_, row.id);  // before the record is looked at
    sweep::EarlierResults earlier(record, form_, row.id, request_.since);
    const bool looks_up = request_.use_record && record.has_points(row.work);
    sweep::Progress progress(progress_style(request_), looks_up ? record.mean_duration_s(row.work) : 0);
    sweep::Sweep sweep(
        cursor_, **runner, plan_.run,
        {.are_done = looks_up
                         ? [&](std::span<const std::uint64_t> numbers) { return find_done(earlier, numbers, progress); }
                         : sweep::Sweep::FindDone(),
         .claim = [&](std::span<const std::uint64_t> numbers,
                      bool is_block) { return others.claim(numbers, is_block); },
         .keep =
             [&](const sweep::Point& point, const sweep::Attempt& attempt, std::uint32_t number, bool is_last,
                 vm::PointClaim claim) {
               return keep(recorder, point, attempt, number, is_last, others.after_end(std::move(claim)));
             },
         .keep_block =
             [&](vm::BlockRow block) {
               if (request_.script_options.is_verbose) tell_at_once(block_line(block));
               block.claim = others.after_end(std::move(block.claim));
               recorder.add(std::move(block));
               return !recorder.has_failed();
             },
         .tick =
             [&](const sweep::SweepCounts& counts) {
               if (!request_.script_options.is_quiet && others.is_first_wait(counts)) {
                 progress.clear();
                 const bool has_files = std::ranges::any_of(plan_.collectors, &sweep::Collector::reads_file);
                 tell_at_once(fmt::format("raddle: waiting for {}, which another run in this folder is running{}\n",
                                          sweep::counted(counts.waiting, "point"),
                                          has_files ? ", or whose files it is writing" : ""));
               }
               progress.show(counts);
             }});
    {
      const std::lock_guard lock(mutex_);
      sweep_ = &sweep;
      id_ = row.id;
      if (signals.caught() != 0) stop(signals.caught());
    }
    std::optional<TimeLimit> limit;
    if (request_.time_limit_s > 0) limit.emplace(request_.time_limit_s, [this] { time_is_up(); });
    const sweep::SweepStop stop = sweep.run();
    progress.clear();
    forget_sweep(recorder);
    sweep::SweepCounts counts = sweep.counts();
    row.ended = vm::unix_time();
    row.points = stop == sweep::SweepStop::none ? counts.found : cursor_.size();
    row.taken = counts.taken;
    row.ok = counts.ok;
    row.failed = counts.failed;
    row.state = state_of(stop, signals.caught(), counts);
    const auto written = end_record(recorder, row, others.taken_after(earlier.taken()));
    const vm::Recorder::Unwritten& unwritten = recorder.unwritten();
    row.ok = counts.ok -= unwritten.ok;
    row.failed = counts.failed -= unwritten.failed;
    const SweepEnd end{.run = row,
                       .counts = counts,
                       .stop = stop,
                       .has_limit = plan_.run.max_fails.has_value(),
                       .signal = signals.caught(),
                       .seconds = row.ended - row.started,
                       .is_quiet = request_.script_options.is_quiet};
    report(end, sweep.failures());
    int code = !written                           ? failed(unwritten_text(written.error(), unwritten, row.id))
               : stop == sweep::SweepStop::broken ? failed(sweep.error())
                                                  : finish(end);
    if (recorder.has_given_up()) code = signals.caught() == SIGINT ? exit_interrupted : exit_ended_early;
    if (request_.as_json && !write_output(sweep_json(end, sweep.failures(), plan_.command, code))) code = exit_failed;
    if (runner_->has_lost_runs()) leave(code);
    return code;
  }

 private:
  /// Ends the process where a run does not end: it uses what destructors would take from it.
  [[noreturn]] static void leave(int code) {
    vm::remove_temporaries();
    _exit(write_output("") || code != exit_ok ? code : exit_failed);
  }

  void report(const SweepEnd& end, const sweep::Failures& failures) {
    if (!end.is_quiet) report_changed_files(plan_.inputs->changes());
    if (plan_.script && !end.is_quiet)
      if (const std::optional<std::string> problem = plan_.script->call_record().problem())
        warn(fmt::format("results of `@memo` functions may not be kept: {}", *problem));
    report_sweep(end, failures, plan_.command);
    if (end.stop == sweep::SweepStop::none && end.counts.found == 0 && plan_.cursor.filter && !end.is_quiet)
      vm::print_stderr("raddle: --where leaves none of {}\n", sweep::counted(cursor_.size(), "point"));
  }

  /// Writes the table if all points are through. @return exit code
  int finish(const SweepEnd& end) {
    if (end.stop == sweep::SweepStop::none) {
      is_writing_.store(true, std::memory_order_relaxed);
      std::expected<void, std::string> printed;
      try {
        vm::RunRecord record = vm::RunRecord::create();
        record.read_together([&] { printed = write_sweep_table(request_, plan_, record, end.run.id); });
      } catch (const vm::RecordError& error) {
        printed = std::unexpected(error.what());
      }
      if (!printed) return failed(printed.error());
    } else if (!request_.output.empty()) {
      vm::print_stderr("raddle: `{}` is not written before all points are through\n", request_.output);
    }
    return exit_code_of(end);
  }

  sweep::Sweep::Done find_done(sweep::EarlierResults& earlier, std::span<const std::uint64_t> numbers,
                               sweep::Progress& progress) {
    const bool has_told = earlier.changed_file().has_value();
    sweep::Sweep::Done done = std::vector<bool>(numbers.size());
    for (bool is_busy = true; is_busy && !is_stopping_.load(std::memory_order_relaxed);) {
      try {
        done = earlier.are_done(numbers);
        is_busy = false;
      } catch (const vm::RecordBusy&) {
        if (!std::exchange(is_lock_told_, true))
          tell_at_once(
              "raddle: another process holds the record `.raddle/runs.db` locked: what it has is waited for\n");
      } catch (const vm::RecordError& error) {
        return std::unexpected(error.what());
      }
    }
    if (!has_told && earlier.changed_file() && !request_.script_options.is_quiet) {
      progress.clear();
      tell_at_once(change_text(*earlier.changed_file()));
    }
    return done;
  }

  bool keep(vm::Recorder& recorder, const sweep::Point& point, const sweep::Attempt& attempt, std::uint32_t number,
            bool is_last, vm::PointClaim claim) {
    recorder.add({.number = point.number,
                  .key = plan_.keys.of(point),
                  .attempt_number = number,
                  .is_last = is_last,
                  .parameters = sweep::parameters_json(plan_.space.parameters(), point),
                  .attempt = attempt,
                  .claim = std::move(claim)});
    if (request_.script_options.is_verbose) tell_at_once(point_line(plan_.space, point, attempt, is_last));
    return !recorder.has_failed();
  }

  /// On the thread of the signals.
  void hear(int signal, unsigned count) {
    if (count > 2 || is_writing_.load(std::memory_order_relaxed)) _exit(128 + signal);
    const std::lock_guard lock(mutex_);
    if (ended_recorder_ != nullptr) ended_recorder_->give_up();
    if (sweep_ == nullptr) return;
    if (count > 1) return end_now();
    tell_at_once(stop_message({sweep_->counts(), signal, id_, lets_end(signal)}));
    stop(signal);
  }

  /// On the thread of the time limit.
  void time_is_up() {
    const std::lock_guard lock(mutex_);
    if (sweep_ == nullptr) return;
    tell_at_once(stop_message({sweep_->counts(), 0, id_, true}));
    is_stopping_.store(true, std::memory_order_relaxed);
    sweep_->request_stop();
  }

  /// On the signals' thread, at SIGQUIT.
  void tell_of_programs() {
    const std::lock_guard lock(mutex_);
    if (sweep_ == nullptr) return;
    const sweep::SweepCounts counts = sweep_->counts();
    std::string text =
        fmt::format("\nraddle: {}: {} running, {} ok, {} failed, {} from the record\n",
                    sweep::counted(cursor_.size(), "point"), sweep::with_commas(counts.running),
                    sweep::with_commas(counts.ok), sweep::with_commas(counts.failed), sweep::with_commas(counts.taken));
    if (!plan_.script) text += programs_text(runner_->programs());
    tell_at_once(text);
  }

  /// Does what runs go on to its end? Programs do: they may be hours old. The points of a script take some time from
  /// microseconds to for ever, and none is worth waiting for that without limit; who asks by SIGUSR1, as Slurm does
  /// before the time is up, is about to end all by himself.
  bool lets_end(int signal) const { return !plan_.script || signal == SIGUSR1; }

  /// At the first signal. mutex_ is held.
  void stop(int signal) {
    is_stopping_.store(true, std::memory_order_relaxed);
    sweep_->request_stop();
    if (!lets_end(signal)) end_now();
  }

  /// mutex_ is held.
  void end_now() {
    if (ender_.joinable()) return;
    try {
      ender_ = std::jthread([sweep = sweep_] { sweep->end_now(); });  // takes seconds if a program does not want to end
    } catch (const std::system_error&) {
      sweep_->end_now();  // then no other signal is heard meanwhile
    }
  }

  void forget_sweep(vm::Recorder& recorder) {
    std::unique_lock lock(mutex_);
    sweep_ = nullptr;
    ended_recorder_ = &recorder;
    lock.unlock();
    if (ender_.joinable()) ender_.join();
  }

  /// After forget_sweep(): a signal ends the wait for who holds the record locked.
  std::expected<void, std::string> end_record(vm::Recorder& recorder, const vm::RunRow& row,
                                              std::vector<std::int64_t> taken) {
    auto written = recorder.end(row, std::move(taken), runner_->device_rows());
    const std::lock_guard lock(mutex_);
    ended_recorder_ = nullptr;
    return written;
  }

  static int failed(const std::string& message) {
    if (!message.empty()) vm::print_stderr("raddle: {}\n", message);
    return exit_failed;
  }

  const SweepRequest& request_;
  const SweepPlan& plan_;
  const sweep::ResultForm form_;
  sweep::Cursor cursor_;
  sweep::PointRunner* runner_ = nullptr;    ///< set before sweep_ is, and lives longer
  std::mutex mutex_;                        ///< guards the next three
  sweep::Sweep* sweep_ = nullptr;           ///< while it runs
  vm::Recorder* ended_recorder_ = nullptr;  ///< while it writes the end, after that
  std::string id_;
  bool is_lock_told_ = false;             ///< of the thread that looks ahead
  std::atomic<bool> is_stopping_{false};  ///< relaxed: it says nothing of anything else
  std::atomic<bool> is_writing_{false};   ///< the table, after all else; relaxed: it says nothing of anything else
  std::jthread ender_;
};

/// More points are run only if that is meant.
constexpr std::uint64_t most_unasked = 100'000'000;

int too_many(std::uint64_t points) {
  constexpr double fast_point_s = 1e-6, small_point_bytes = 15;
  const double count = static_cast<double>(points);
  vm::print_stderr(
      "raddle: the sweep has {} points: at a microsecond each, they take {}, and {:.0f} GB in the record\n"
      "  = help: --yes if that is meant; --shard i/n or --random N takes a part of them, -n shows the first\n",
      sweep::with_commas(points), sweep::duration_text(count * fast_point_s), count * small_point_bytes / 1e9);
  return exit_usage;
}

int show_script(const SweepRequest& request, const SweepPlan& plan) {
  const auto script =
      sweep::print_script(plan.space, plan.cursor, plan.command, "raddle sweep " + vm::shell_line(request.words));
  if (!script) {
    vm::print_stderr("raddle: {}\n", script.error());
    return exit_failed;
  }
  return write_output(*script) ? exit_ok : exit_failed;
}

}  // namespace

int run_sweep(const SweepRequest& request) {
  if (request.command.empty() && request.script.empty())
    return usage_error("no script, and no command: a command stands behind `--`", "sweep");
  const std::expected<std::unique_ptr<SweepPlan>, int> made = make_plan(request);
  if (!made) return made.error();
  return run_plan(request, **made);
}

int run_plan(const SweepRequest& request, const SweepPlan& plan) {
  if (request.as_json && (request.output == "-" || request.dry_run || request.print_script))
    return usage_error("--json: standard output is that of the table, the script, or what -n says", "sweep");
  if (const auto fault = fault_of_shared_file(request, plan)) return option_error(*fault);
  if (const auto fault = fault_of_column_names(request, plan)) return option_error(*fault);
  if (plan.script) plan.script->tell_warnings();
  if (!request.print_script && !request.script_options.is_quiet) warn_of_unused(request, plan);
  if (request.print_script) return show_script(request, plan);
  try {
    if (request.dry_run) return preview_sweep(request, plan);
    const std::uint64_t points = sweep::Cursor(plan.space, plan.cursor).size();
    if (points > most_unasked && !request.is_meant) return too_many(points);
    if (!plan.script)
      if (const std::string fault = sweep::fault_of_program(plan.command); !fault.empty() && has_runs(request, plan)) {
        vm::print_stderr("raddle: {}\n", fault);
        return exit_usage;
      }
    return SweepRun(request, plan).run();
  } catch (const vm::RecordError& error) {
    vm::print_stderr("raddle: {}\n", error.what());
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::resource_unavailable_try_again) throw;  // a thread: told for all verbs
    vm::print_stderr("raddle: {}\n", error.what());
  }
  return exit_failed;
}

const Verb sweep_verb = {
    .name = "sweep",
    .about = "Run a script, or a program, at each point of a space of parameters: sweep SCRIPT.df -p a=1,2",
    .run =
        [](const std::vector<std::string>& words) {
          return with_record([&] {
            const std::expected<SweepRequest, int> request = read_typed_sweep(words);
            return request ? run_sweep(*request) : request.error();
          });
        },
    .describe = [](CLI::App& app) { describe_with(app, add_sweep_options); }};

}  // namespace raddle::tool
