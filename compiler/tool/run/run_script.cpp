// From text to results, the second half: the optimised IR becomes a program, the VM runs it, and what went wrong is
// told.
#include "compiler/tool/run/run_script.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <system_error>

#include "compiler/tool/command/recorded_run.hpp"
#include "compiler/tool/command/usage_error.hpp"
#include "compiler/tool/command/version.hpp"
#include "compiler/tool/executable/compile.hpp"
#include "compiler/tool/executable/diagnostics_json.hpp"
#include "compiler/tool/executable/executable.hpp"
#include "compiler/tool/run/device_rows.hpp"
#include "compiler/tool/run/kept_output.hpp"
#include "compiler/tool/run/last_end.hpp"
#include "compiler/tool/process/out_of_memory.hpp"
#include "compiler/tool/run/program_teller.hpp"
#include "compiler/tool/run/report_run.hpp"
#include "compiler/tool/run/run_settings.hpp"
#include "compiler/tool/run/run_trace.hpp"
#include "compiler/tool/executable/script_arguments.hpp"
#include "compiler/tool/process/signals.hpp"
#include "compiler/tool/run/task_log.hpp"
#include "compiler/tool/run/time_limit.hpp"
#include "compiler/tool/run/turbine_environment.hpp"
#include "compiler/tool/report/trace.hpp"
#include "compiler/tool/formats/json_text.hpp"
#include "compiler/tool/formats/quantities.hpp"
#include "compiler/tool/formats/writer.hpp"
#include "compiler/tool/process/changed_numbers.hpp"
#include "stdlib/native/output.hpp"
#include "vm/device/device_log.hpp"
#include "vm/memory/bounded_memory.hpp"
#include "vm/device/devices.hpp"
#include "vm/foreign/crash_notice.hpp"
#include "vm/interpret/run.hpp"
#include "vm/record/call_record.hpp"
#include "vm/value/shown_text.hpp"
#include "vm/value/standard_error.hpp"
#include "vm/value/temporaries.hpp"
#include "vm/value/text.hpp"
#include "vm/value/unix_time.hpp"

namespace raddle::tool {

namespace {

constexpr auto longest_last_write = std::chrono::seconds(2);  ///< of a run that was ended: nobody may be reading
#ifdef __SANITIZE_ADDRESS__
constexpr bool leaves_memory = false;  // its search for leaks is to find those of a run
#else
constexpr bool leaves_memory = true;
#endif

/// Ends those of values that a run has left to the system.
struct TemporariesEnd {
  TemporariesEnd() = default;
  TemporariesEnd(const TemporariesEnd&) = delete;
  TemporariesEnd& operator=(const TemporariesEnd&) = delete;
  ~TemporariesEnd() { vm::remove_temporaries(); }
};

/// As it is when it begins.
vm::RunRow run_row(const Session& session) {
  vm::RunRow row;
  row.kind = run_kind::script;
  row.started = vm::unix_time();
  for (const std::string& word : session.words) (row.command += word) += '\0';
  return row;
}

/// Of a run that the signal has cancelled.
int code_of_signal(int signal) {
  if (signal == SIGPIPE) return exit_broken_pipe;
  return signal == SIGINT ? exit_interrupted : exit_ended_early;
}

vm::RunState state_of(vm::RunStatus status, int signal) {
  if (status == vm::RunStatus::ok) return vm::RunState::done;
  if (status != vm::RunStatus::cancelled) return vm::RunState::failed;
  return signal == SIGINT ? vm::RunState::interrupted : vm::RunState::stopped;
}

bool asks_for_help(const std::vector<std::string>& arguments) {
  return std::ranges::find(arguments, "--help") != arguments.end();
}

std::string json_of(const vm::Value& value) {
  const std::string text = vm::result_text(value);
  if (value.kind() == vm::ValueKind::string) return sweep::json_string(text);
  return value.kind() == vm::ValueKind::boolean ? text : sweep::json_value(text);
}

/// Those marked `@result`, in JSON.
std::string results_json(const CheckedProgram& checked, const vm::RunResult& result) {
  sweep::JsonObject json;
  for (std::size_t i = 0; result.status == vm::RunStatus::ok && i < checked.results.size(); ++i)
    json.add(checked.variables[checked.results[i].variable].name, json_of(result.results[i]));
  return json.text();
}

std::string message_of_end(double timeout_s) {
  return fmt::format("raddle: the {} of --timeout are up; ending what runs\n", sweep::seconds_text(timeout_s));
}

/// What `--json` prints at the end: until then nothing goes to standard output.
class JsonLine {
 public:
  /// @throws std::system_error without a place for what is printed
  JsonLine(Session& session, std::string path) : session_(session), path_(std::move(path)) {}
  std::string results = "{}";  ///< in JSON
  /// @return false if it can not be written
  bool write(int code) {
    const KeptOutput::Text output = kept_.end();
    const std::string cut =
        output.end.size() < output.size ? fmt::format(",\"output_bytes\":{}", output.size) : "";  // it is the end of it
    return write_output(json_line(fmt::format(
        "\"script\":{},\"exit_code\":{},\"seconds\":{:.3f},\"results\":{},\"output\":{}{},\"diagnostics\":{}",
        sweep::json_string(path_), code, vm::unix_time() - started_, results, sweep::json_string(output.end), cut,
        diagnostics_json(session_.diagnostics, session_.sources))));
  }

 private:
  Session& session_;
  std::string path_;
  KeptOutput kept_;
  double started_ = vm::unix_time();
};

/// Where nothing was printed.
void tell_of_results(const CheckedProgram& checked, const vm::RunResult& result) {
  if (stdlib::has_text(stdlib::Stream::out) || result.counters.programs_started != 0) return;
  std::vector<std::string> names;
  for (const auto& each : checked.results) names.push_back(fmt::format("`{}`", checked.variables[each.variable].name));
  vm::print_stderr("raddle: --results prints what the script has marked `@result`: {}\n", fmt::join(names, ", "));
}

/// What is to be run gets them, or else the exit code is said: after --help, or where they are wrong.
std::expected<ScriptArguments, int> arguments_of(const ArgumentRules& rules, const CheckedProgram& checked,
                                                 const std::string& path, const std::vector<std::string>& arguments) {
  if (asks_for_help(arguments) && (!checked.parameters.empty() || !rules.reads_words))
    return std::unexpected(write_output(describe_parameters(checked, path)) ? exit_ok : exit_failed);
  std::expected<ScriptArguments, std::string> read = read_arguments(rules, arguments);
  if (read) return std::move(*read);
  vm::print_stderr("raddle: {}\ntry `raddle run {} --help`\n", read.error(), path);
  return std::unexpected(exit_usage);
}

/// A terminal does not obey values.
std::string shown_on_output(const std::string& text) {
  return isatty(STDOUT_FILENO) != 0 ? vm::shown_text(text) : vm::valid_text(text);
}

/// Of a run that has failed nothing: what is set may be wrong.
void print_results(const Session& session, const CheckedProgram& checked, const vm::RunResult& result, bool as_json) {
  if (result.status != vm::RunStatus::ok) return;
  if (session.options.show_results)
    for (std::size_t i = 0; i < checked.results.size(); ++i)
      stdlib::print_text(shown_on_output(fmt::format("{} = {}\n", checked.variables[checked.results[i].variable].name,
                                                     vm::result_text(result.results[i]))));
  else if (!checked.results.empty() && !as_json && !session.options.is_quiet)
    tell_of_results(checked, result);
}

/// The one that has ended the run, 0 if none.
int signal_of(const SignalWatch& signals) {
  if (signals.caught() != 0) return signals.caught();
  const bool is_unread = !stdlib::has_reader(stdlib::Stream::out) || !stdlib::has_reader(stdlib::Stream::error);
  return is_unread && signals.hears(SIGPIPE) ? SIGPIPE : 0;  // the watch may not have heard it yet
}

/// @param devices  may be null
void warn_of_devices(const vm::Devices* devices) {
  if (const std::string problem = devices ? devices->problem() : ""; !problem.empty()) warn(problem);
}

void warn_of_records(const std::optional<std::string>& of_calls, const std::optional<std::string>& of_log) {
  if (of_calls) warn(fmt::format("results of `@memo` functions may not be kept: {}", *of_calls));
  if (of_log) warn(fmt::format("what was run is not recorded: {}", *of_log));
}

/// @param json  null: without   @return exit code
int compile_and_run(Session& session, Script script, const std::vector<std::string>& arguments, JsonLine* json) {
  const std::string path = script.path;
  const std::uint32_t file = session.sources.add(std::move(script.path), std::move(script.text));
  std::optional<Compilation> compilation = compile(session, file);
  if (!compilation) return session.print_diagnostics(), exit_compile_error;

  const CheckedProgram& checked = *compilation->checked;
  const bool is_quiet = session.options.is_quiet;
  const ArgumentRules rules{checked, reads_words(compilation->module), path, session.option_names, !is_quiet};
  std::expected<ScriptArguments, int> read = arguments_of(rules, checked, path, arguments);
  if (!read) return read.error();
  std::expected<vm::RunOptions, int> options = run_options(session.options, path);
  if (!options) return options.error();
  std::optional<vm::TaskTrace> trace;
  if (const std::string& file_of_trace = session.options.trace; !file_of_trace.empty()) {
    if (const std::string fault = sweep::fault_of_output(file_of_trace); !fault.empty())
      return usage_error("--trace: " + fault, "run");
    trace.emplace(options->workers, report::most_slices);
    options->trace = &*trace;
  }
  if (session.print_diagnostics()) return exit_compile_error;  // warnings, now that the command line is in order
  vm::DeviceLog device_log;
  if (trace || session.options.records_tasks) {
    options->device_log = &device_log;
    if (vm::BoundedMemory* const memory = vm::BoundedMemory::get()) memory->keep_moves(vm::DeviceLog::usual_most);
  }
  Executable executable(std::move(*compilation), session.options);
  options->settings.arguments = std::move(read->rest);
  options->arguments = std::move(read->parameters);
  options->kernel_compiler = executable.kernel_compiler();
  options->app_kernel_compiler = executable.app_kernel_compiler();
  vm::CallRecord call_record(version, session.options.takes_kept_calls);
  options->call_record = &call_record;
  std::optional<TaskLog> log;
  if (session.options.records_tasks) {
    options->listener = &log.emplace(session.sources, run_row(session));
  }
  std::optional<ProgramTeller> teller;
  if (session.options.is_verbose) options->listener = &teller.emplace(options->listener);
  vm::CancelHook cancel;
  options->cancel = &cancel;
  LastEnd last_end(cancel, [json, &log](int code) {
    stdlib::flush_output_within(longest_last_write);
    if (log && code == exit_failed) log->end(vm::RunState::failed);
    if (json != nullptr) json->write(code);
  });
  const vm::CrashKeeper crash_keeper([&last_end] { last_end.prepare(exit_failed); });
  const auto heard = [&last_end, cancels = cancelling(cancel)](int signal, unsigned count) {
    cancels(signal, count);
    last_end.begin(code_of_signal(signal));
  };
  const SignalWatch signals({SIGINT, SIGTERM, SIGHUP, SIGPIPE}, heard,
                            [&cancel] { tell_at_once(programs_text(cancel.programs())); });
  // before a program hears of it, else its end would be a failure
  if (log)
    options->program_outputs = own_streams([&cancel, &signals] {
      if (signals.hears(SIGPIPE)) cancel.cancel();
    });
  std::optional<TimeLimit> limit;
  if (const double timeout_s = session.options.timeout_s; timeout_s > 0)
    limit.emplace(timeout_s, [&cancel, &last_end, timeout_s] {
      tell_at_once(message_of_end(timeout_s));
      cancel.cancel();
      last_end.begin(exit_timeout);
    });
  options->leaves_memory = leaves_memory;
  if (std::string problem = redirect_output(); !problem.empty()) return usage_error(problem, "run");
  if (const std::string problem = begin_ranks(*options); !problem.empty()) {
    vm::print_stderr("raddle: {}\n", problem);
    return exit_failed;
  }
  const TemporariesEnd temporaries_end;  // while signals are still looked after
  tell_places_in(session.sources);
  const vm::RunResult result = vm::run(executable.program(), *options);
  limit.reset();
  if (result.status != vm::RunStatus::cancelled) last_end.stop();
  const std::string end_problem = end_ranks(*options);

  print_results(session, checked, result, json != nullptr);
  const bool output_written = result.status == vm::RunStatus::cancelled
                                  ? stdlib::flush_output_within(longest_last_write)
                                  : stdlib::flush_output();
  const int signal = signal_of(signals);
  if (session.options.statistics) {
    std::vector<vm::DeviceObstacle> obstacles = result.device_obstacles;
    if (options->devices && !options->devices->facts().empty())
      std::ranges::move(obstacles_of_single_calls(session.sources, executable.program()),
                        std::back_inserter(obstacles));
    print_statistics(session.sources, result, executable.leaf_counters(), options->devices.get(), obstacles);
    print_interpreted_loops(session.sources, executable.module());
  }
  const std::optional<std::string> of_calls = call_record.problem();
  const std::vector<vm::DeviceRow> devices = device_rows(device_log, options->devices.get(), session.sources);
  const std::optional<std::string> of_log = log ? log->end(state_of(result.status, signal), devices) : std::nullopt;
  if (!is_quiet) warn_of_records(of_calls, of_log), warn_of_devices(options->devices.get());
  warn_of_changed_numbers();
  if (json != nullptr) json->results = results_json(checked, result);
  const bool is_timed_out = result.status == vm::RunStatus::cancelled && signal == 0;
  const int told = report_run(session, result, signal);
  const int code = is_timed_out ? exit_timeout : told;
  const bool is_traced =
      !trace || write_run_trace(session.options.trace, path, *trace, executable.program(), session.sources, devices);
  if (!is_traced && code == exit_ok) return exit_failed;
  if (!end_problem.empty()) vm::print_stderr("raddle: {}\n", end_problem);
  if (!end_problem.empty() && code == exit_ok) return exit_failed;
  if (signal == SIGPIPE) return exit_broken_pipe;
  if (!output_written && code == exit_ok) {
    vm::print_stderr("raddle: standard output could not be written\n");
    return exit_failed;
  }
  return code;
}

}  // namespace

int run_script(Session& session, Script script, std::vector<std::string> arguments) {
  if (!session.options.as_json) return compile_and_run(session, std::move(script), arguments, nullptr);
  std::optional<JsonLine> json;
  try {
    json.emplace(session, script.path);
  } catch (const std::system_error& error) {
    vm::print_stderr("raddle: {}\n", error.what());
    return exit_failed;
  }
  const int code = compile_and_run(session, std::move(script), arguments, &*json);
  if (code == exit_usage) return code;
  return json->write(code) || code != exit_ok ? code : exit_failed;
}

}  // namespace raddle::tool
