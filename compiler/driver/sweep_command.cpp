// `raddle sweep` from the request to the exit code.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <charconv>
#include <system_error>

#include "compiler/driver/commands.hpp"
#include "compiler/driver/signals.hpp"
#include "compiler/driver/sweep_request.hpp"
#include "compiler/driver/sweep_report.hpp"
#include "compiler/driver/where.hpp"
#include "compiler/sweep/print_script.hpp"
#include "compiler/sweep/program_runner.hpp"
#include "compiler/sweep/results.hpp"
#include "compiler/sweep/scan.hpp"
#include "vm/external/start_child.hpp"
#include "vm/record/recorder.hpp"

namespace raddle::driver {

namespace {

double now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

sweep::OptionError bad_option(std::string option, const std::string& word, std::string message, std::string help = "") {
  return {std::move(option), word, {std::move(message), 0, word.size(), std::move(help)}};
}

using OptionResult = std::expected<void, sweep::OptionError>;

OptionResult read_shard(const std::string& word, sweep::CursorOptions& cursor) {
  if (word.empty()) return {};
  const std::size_t slash = word.find('/');
  const auto shard = sweep::read_count(word.substr(0, slash));
  const auto count = slash == std::string::npos ? std::nullopt : sweep::read_count(word.substr(slash + 1));
  if (!shard || !count || *shard == 0 || *shard > *count)
    return std::unexpected(bad_option("--shard", word, "a shard is i/n with i from 1 to n", "--shard 3/20"));
  cursor.shard = *shard;
  cursor.shard_count = *count;
  return {};
}

OptionResult read_limit(std::string word, std::optional<sweep::FailureLimit>& limit) {
  if (word.empty()) return {};
  const bool is_percent = word.ends_with('%');
  const auto number = sweep::read_number(std::string_view(word).substr(0, word.size() - (is_percent ? 1 : 0)));
  if (!number || *number < 0 || (is_percent && *number > 100))
    return std::unexpected(
        bad_option("--max-fails", word, "it is a number, or a percentage", "--max-fails 20, --max-fails 5%"));
  limit = sweep::FailureLimit{*number, is_percent};
  return {};
}

OptionResult read_grouping(const SweepRequest& request, const std::vector<sweep::Parameter>& parameters,
                           sweep::Grouping& grouping) {
  for (const std::string& name : request.group_by) {
    const auto found = std::ranges::find(parameters, name, &sweep::Parameter::name);
    if (found == parameters.end())
      return std::unexpected(bad_option("--group-by", name, fmt::format("there is no parameter `{}`", name)));
    grouping.parameters.push_back(static_cast<std::size_t>(found - parameters.begin()));
  }
  for (const std::string& name : request.aggregate) grouping.statistics.push_back(*sweep::statistic_named(name));
  if (!grouping.parameters.empty() && grouping.statistics.empty())
    grouping.statistics = {sweep::Statistic::mean, sweep::Statistic::std_, sweep::Statistic::n};
  return {};
}

/// All that the command line says of a sweep, checked.
struct Plan {
  sweep::Space space;
  sweep::CommandTemplate command;
  std::vector<sweep::Collector> collectors;
  sweep::CursorOptions cursor;
  sweep::SweepOptions run;
  sweep::Grouping grouping;
  sweep::TableForm form = sweep::TableForm::csv;
};

OptionResult read_output(const std::string& path, sweep::TableForm& form) {
  if (path.empty() || path == "-") return {};
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, std::max<std::size_t>(slash, 1));
  if (access(folder.c_str(), W_OK) != 0)  // better told now than after all the runs
    return std::unexpected(
        bad_option("-o", path, fmt::format("can not write into `{}`: {}", folder, vm::error_text(errno))));
  if (path.ends_with(".csv")) return {};
  form = sweep::TableForm::json_lines;
  if (path.ends_with(".jsonl")) return {};
  const bool is_parquet = path.ends_with(".parquet");
  return std::unexpected(
      bad_option("-o", path, is_parquet ? "not supported yet: Parquet" : "a table is .csv or .jsonl"));
}

std::expected<Plan, sweep::OptionError> make_plan(const SweepRequest& request) {
  auto space = sweep::Space::make(request.space);
  if (!space) return std::unexpected(space.error());
  auto command = sweep::CommandTemplate::parse(request.command, space->parameters());
  if (!command) return std::unexpected(command.error());
  Plan plan{.space = std::move(*space),
            .command = std::move(*command),
            .collectors = {},
            .cursor = {},
            .run = request.run,
            .grouping = {}};
  for (const std::string& word : request.collect) {
    auto collector = sweep::Collector::parse(word, plan.space.parameters());
    if (!collector) return std::unexpected(collector.error());
    plan.collectors.push_back(std::move(*collector));
  }
  OptionResult result = read_shard(request.shard, plan.cursor);
  if (result) result = read_limit(request.max_fails, plan.run.max_fails);
  if (result) result = read_grouping(request, plan.space.parameters(), plan.grouping);
  if (result) result = read_output(request.output, plan.form);
  if (!result) return std::unexpected(result.error());
  if (request.order == "random") plan.cursor.order_seed = request.space.seed;
  plan.cursor.numbers = request.numbers;
  return plan;
}

vm::RunRow run_row(const SweepRequest& request, std::uint64_t points) {
  vm::RunRow row;
  row.kind = "sweep";
  row.started = now();
  row.points = points;
  row.resumes = request.resumes;
  for (const std::string& word : request.words) (row.command += word) += '\0';
  for (const std::string& word : request.collect) (row.collect += word) += '\0';
  return row;
}

sweep::ProgressStyle progress_style(const std::string& name) {
  if (name == "none") return sweep::ProgressStyle::none;
  const bool is_bar = name == "auto" && wants_colour(STDERR_FILENO);
  return is_bar ? sweep::ProgressStyle::bar : sweep::ProgressStyle::plain;
}

vm::RunState state_of(sweep::SweepStop stop, int signal, const sweep::SweepCounts& counts) {
  if (stop == sweep::SweepStop::none) return counts.failed == 0 ? vm::RunState::done : vm::RunState::failed;
  return signal == SIGINT ? vm::RunState::interrupted : vm::RunState::stopped;
}

/// The sweep with all that it works with.
class SweepRun {
 public:
  SweepRun(const SweepRequest& request, const Plan& plan)
      : request_(request),
        plan_(plan),
        keys_(plan.command.words(), plan.space.parameters(), plan.command.uses("seed")),
        cursor_(plan.space, plan.cursor) {}

  int run() {
    SignalWatch signals({SIGINT, SIGTERM, SIGUSR1, SIGHUP},
                        [this](int signal, unsigned count) { hear(signal, count); });
    vm::RunRow row = run_row(request_, cursor_.size());
    vm::Recorder recorder(row);
    vm::RunRecord record = vm::RunRecord::create();
    row.id = recorder.id();
    sweep::EarlierResults earlier(record, keys_, plan_.collectors, row.collect, row.id);
    const bool looks_up = request_.use_record && record.has_points();
    sweep::Progress progress(progress_style(request_.progress));
    sweep::ProgramRunner runner(plan_.command, plan_.collectors, plan_.run.jobs, request_.timeout_s);
    sweep::Sweep sweep(cursor_, runner, plan_.run,
                       {.is_done = looks_up ? [&](const sweep::Point& point) { return earlier.is_done(point); }
                                            : std::function<bool(const sweep::Point&)>(),
                        .keep = [&](const sweep::Point& point, const sweep::Attempt& attempt, std::uint32_t number,
                                    bool is_last) { return keep(recorder, point, attempt, number, is_last); },
                        .tick = [&](const sweep::SweepCounts& counts) { progress.show(counts); }});
    {
      const std::lock_guard lock(mutex_);
      sweep_ = &sweep;
      id_ = row.id;
      if (signals.caught() != 0) sweep.request_stop();
    }
    const sweep::SweepStop stop = sweep.run();
    progress.clear();
    forget_sweep();
    const sweep::SweepCounts counts = sweep.counts();
    row.ended = now();
    row.points = stop == sweep::SweepStop::none ? counts.found : cursor_.size();
    row.taken = counts.taken;
    row.ok = counts.ok;
    row.failed = counts.failed;
    row.state = state_of(stop, signals.caught(), counts);
    const auto written = recorder.end(row);
    const SweepEnd end{.run = row,
                       .counts = counts,
                       .stop = stop,
                       .has_limit = plan_.run.max_fails.has_value(),
                       .signal = signals.caught(),
                       .seconds = row.ended - row.started};
    report_sweep(end, sweep.failures(), plan_.command);
    if (!written) return failed(written.error());
    if (stop == sweep::SweepStop::broken) return failed(cursor_.error());
    if (stop == sweep::SweepStop::none) {
      const auto printed = write_table(earlier);
      if (!printed) return failed(printed.error());
    } else if (!request_.output.empty()) {
      fmt::print(stderr, "raddle: `{}` is not written before all points are through\n", request_.output);
    }
    return exit_code_of(end);
  }

 private:
  bool keep(vm::Recorder& recorder, const sweep::Point& point, const sweep::Attempt& attempt, std::uint32_t number,
            bool is_last) {
    recorder.add({.number = point.number,
                  .key = keys_.of(point),
                  .attempt = number,
                  .is_last = is_last,
                  .outcome = attempt.outcome,
                  .started = attempt.started,
                  .duration_s = attempt.duration_s,
                  .exit_code = attempt.exit_code,
                  .signal = attempt.signal,
                  .detail = attempt.detail,
                  .parameters = sweep::parameters_json(plan_.space.parameters(), point),
                  .results = attempt.results,
                  .stdout_end = attempt.stdout_end,
                  .stderr_end = attempt.stderr_end,
                  .stdout_size = attempt.stdout_size,
                  .stderr_size = attempt.stderr_size});
    return !recorder.has_failed();
  }

  /// On the thread of the signals.
  void hear(int signal, unsigned count) {
    if (count > 2) _exit(128 + signal);
    const std::lock_guard lock(mutex_);
    if (sweep_ == nullptr) return;
    if (count == 1) {
      const sweep::SweepCounts counts = sweep_->counts();
      sweep_->request_stop();
      tell_at_once(stop_message(counts, signal, id_));
    } else {
      ender_ = std::jthread([sweep = sweep_] { sweep->end_now(); });  // takes seconds if a program does not want to end
    }
  }

  void forget_sweep() {
    std::unique_lock lock(mutex_);
    sweep_ = nullptr;
    lock.unlock();
    if (ender_.joinable()) ender_.join();
  }

  std::expected<void, std::string> write_table(sweep::EarlierResults& earlier) const {
    constexpr std::size_t shown_rows = 20;
    const std::string& path = request_.output;
    sweep::CursorOptions points = plan_.cursor;
    if (!path.empty()) points.numbers.clear();  // a file has the whole table, also if some points only were run again
    const sweep::ResultRows rows(plan_.space, points, earlier);
    const sweep::Table table(rows, plan_.grouping);
    if (path == "-" || (path.empty() && isatty(STDOUT_FILENO) == 0)) return table.print_csv();
    if (!path.empty()) return table.write_file(path, plan_.form);
    if (!write_output(table.excerpt(shown_rows))) return std::unexpected("");
    return {};
  }

  static int failed(const std::string& message) {
    if (!message.empty()) fmt::print(stderr, "raddle: {}\n", message);
    return exit_failed;
  }

  const SweepRequest& request_;
  const Plan& plan_;
  const sweep::PointKeys keys_;
  sweep::Cursor cursor_;
  std::mutex mutex_;               ///< guards the next two
  sweep::Sweep* sweep_ = nullptr;  ///< while it runs
  std::string id_;
  std::jthread ender_;
};

int dry_run(const SweepRequest& request, const Plan& plan) {
  constexpr std::uint64_t shown = 5;
  const sweep::PointKeys keys(plan.command.words(), plan.space.parameters(), plan.command.uses("seed"));
  std::optional<vm::RunRecord> record = request.use_record ? vm::RunRecord::open() : std::nullopt;
  std::string collect;
  for (const std::string& word : request.collect) (collect += word) += '\0';
  std::optional<sweep::EarlierResults> earlier;
  if (record) earlier.emplace(*record, keys, plan.collectors, collect, "");
  sweep::Cursor cursor(plan.space, plan.cursor);
  std::uint64_t count = 0, taken = 0;
  std::string text;
  while (const std::optional<sweep::Point> point = cursor.next()) {
    ++count;
    if (earlier && earlier->is_done(*point))
      ++taken;
    else if (count - taken <= shown)
      text += sweep::shell_line(plan.command.words_for(*point)) + "\n";
  }
  if (!cursor.error().empty()) {
    fmt::print(stderr, "raddle: {}\n", cursor.error());
    return exit_failed;
  }
  if (count - taken > shown) text += "...\n";
  fmt::print(stderr, "raddle: {} points, {} of them in the record: {} runs\n", sweep::with_commas(count),
             sweep::with_commas(taken), sweep::with_commas(count - taken));
  return write_output(text) ? exit_ok : exit_failed;
}

int show_script(const SweepRequest& request, const Plan& plan) {
  const auto script =
      sweep::print_script(plan.space, plan.cursor, plan.command, "raddle sweep " + sweep::shell_line(request.words));
  if (!script) {
    fmt::print(stderr, "raddle: {}\n", script.error());
    return exit_failed;
  }
  return write_output(*script) ? exit_ok : exit_failed;
}

}  // namespace

int option_error(const sweep::OptionError& error) {
  const std::string lead = error.option.empty() ? "  " : fmt::format("  {} ", error.option);
  const auto width = [](std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(text, [](char sign) { return (sign & 0xC0) != 0x80; }));
  };
  const std::string_view word = error.word;
  const std::string_view before = word.substr(0, error.error.begin);
  const std::size_t marked = width(word.substr(before.size(), error.error.end - error.error.begin));
  fmt::print(stderr, "raddle: {}{}\n", error.option.empty() ? "" : error.option + ": ", error.error.message);
  if (!word.empty())
    fmt::print(stderr, "{}{}\n{}{}\n", lead, word, std::string(width(lead) + width(before), ' '),
               std::string(std::max<std::size_t>(marked, 1), '^'));
  if (!error.error.help.empty()) fmt::print(stderr, "  = help: {}\n", error.error.help);
  return exit_usage;
}

int run_sweep(const SweepRequest& request) {
  if (request.command.empty()) return usage_error("no command: it stands behind `--`", "sweep");
  std::expected<Plan, sweep::OptionError> plan = make_plan(request);
  if (!plan) return option_error(plan.error());
  if (!request.where.empty()) {
    auto filter = make_filter(request.where, plan->space.parameters());
    if (!filter) return filter.error();
    plan->cursor.filter = std::move(*filter);
  }
  if (request.print_script) return show_script(request, *plan);
  for (const std::string& name : plan->command.unused(plan->space.parameters()))
    warn(fmt::format("no word of the command names the parameter `{}`", name));
  try {
    return request.dry_run ? dry_run(request, *plan) : SweepRun(request, *plan).run();
  } catch (const vm::RecordError& error) {
    fmt::print(stderr, "raddle: {}\n", error.what());
  } catch (const std::system_error& error) {
    fmt::print(stderr, "raddle: {}\n", error.what());
  }
  return exit_failed;
}

int sweep_command(const std::vector<std::string>& words) {
  const std::expected<SweepRequest, int> request = read_sweep_request(words);
  return request ? run_sweep(*request) : request.error();
}

}  // namespace raddle::driver
