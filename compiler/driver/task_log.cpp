#include "compiler/driver/task_log.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "compiler/driver/file_version.hpp"
#include "compiler/sweep/json_text.hpp"
#include "compiler/sweep/runner.hpp"
#include "vm/external/shell_command.hpp"
#include "vm/value/file_descriptor.hpp"
#include "vm/value/hash.hpp"
#include "vm/value/temporaries.hpp"
#include "vm/value/unix_time.hpp"

namespace raddle::driver {

namespace {

constexpr std::size_t longest_command = 4000;  // bytes that are kept

vm::PointOutcome outcome_of(const vm::EndedProgram& program) {
  const vm::ProcessResult& result = program.result;
  if (!result.start_error.empty()) return vm::PointOutcome::not_started;
  if (result.timed_out) return vm::PointOutcome::timeout;
  if (result.signal != 0) return vm::PointOutcome::signal;
  if (result.exit_code != 0) return vm::PointOutcome::exit_code;
  return program.fault.empty() ? vm::PointOutcome::ok : vm::PointOutcome::no_result;
}

/// Names of temporary files are other ones in each run: they become `raddle_1`, `raddle_2` in the order in which they
/// come in.
class TemporaryNames {
 public:
  std::string in(std::string_view text) {
    std::string renamed;
    for (std::size_t at = text.find(stem_); at != std::string_view::npos; at = text.find(stem_)) {
      const std::string_view own = text.substr(at + stem_.size(), vm::temporary_suffix_size);
      const auto known = std::ranges::find(names_, own);
      const auto number = static_cast<std::size_t>(known - names_.begin()) + 1;
      if (known == names_.end()) names_.emplace_back(own);
      renamed += fmt::format("{}{}{}", text.substr(0, at), stem_, number);
      text.remove_prefix(at + stem_.size() + own.size());
    }
    return renamed += text;
  }

 private:
  const std::string stem_ = vm::temporary_stem();
  std::vector<std::string> names_;
};

vm::PointKey key_of(const std::string& text) {
  const vm::Hash128 hash = vm::hash(text);
  return {.high = hash.high, .low = hash.low};
}

/// Of an output that is a file; any other went where raddle's own goes.
void add_output(const std::string& path, std::string& end, std::uint64_t& size) {
  std::error_code error;
  if (path.empty() || !std::filesystem::is_regular_file(path, error)) return;
  const vm::FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  size = vm::size_of(file);
  end = vm::end_of(file, size, sweep::kept_output_bytes);
}

/// `simulate(n = 3, x = 0.5)`, and the inputs as JSON. @param lines  `NAME<tab>VALUE` each
std::pair<std::string, std::string> call_texts(const std::string& function, const std::string& lines) {
  std::string text;
  sweep::JsonObject inputs;
  for (std::size_t begin = 0; begin < lines.size();) {
    const std::size_t end = lines.find('\n', begin);
    const std::string line = lines.substr(begin, end - begin);
    const std::size_t tab = line.find('\t');
    const std::string name = line.substr(0, tab), value = line.substr(tab + 1);
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, value);
    inputs.add(name, sweep::json_string(value));
    begin = end + 1;
  }
  return {fmt::format("{}({})", function, text), inputs.text()};
}

std::string parameters_of(const std::string& task, const std::string& work) {
  sweep::JsonObject parameters;
  parameters.add("task", sweep::json_string(task));
  parameters.add("work", sweep::json_string(work));
  return parameters.text();
}

}  // namespace

TaskLog::TaskLog(const SourceMap& sources, vm::RunRow run) : sources_(sources), run_(std::move(run)) {}

TaskLog::~TaskLog() = default;

void TaskLog::begin() {
  if (opening_.valid() || recorder_ || problem_) return;
  opening_ = std::async(std::launch::async, [run = run_] { return std::make_unique<vm::Recorder>(run); });
}

std::uint64_t TaskLog::begun() {
  const std::lock_guard lock(mutex_);
  begin();
  return ++begun_;
}

void TaskLog::add(vm::PointRow row) {
  const std::lock_guard lock(mutex_);
  begin();
  if (row.number == 0) row.number = ++begun_;
  if (row.is_last) ++(row.attempt.outcome == vm::PointOutcome::ok ? run_.ok : run_.failed);
  try {
    if (opening_.valid()) recorder_ = opening_.get();
  } catch (const vm::RecordError& error) {
    problem_ = error.what();
  }
  if (recorder_) recorder_->add(std::move(row));
}

std::string TaskLog::text_of(vm::Place place) const { return sources_.describe({place.file, place.begin, place.end}); }

void TaskLog::ended(const vm::EndedProgram& program) {
  const vm::ProcessRequest& request = program.request;
  vm::PointRow row;
  row.number = program.number;
  row.attempt_number = program.attempt;
  row.is_last = program.is_last;
  TemporaryNames temporary;
  row.parameters = parameters_of(program.app, temporary.in(vm::shell_command(request, longest_command)));
  sweep::JsonObject inputs, results;
  for (const std::string& path : program.inputs)
    inputs.add(temporary.in(path), sweep::json_string(file_version(files_, path)));
  std::string outputs;
  for (const std::string& path : program.outputs)
    outputs += (outputs.empty() ? "" : ",") + sweep::json_string(temporary.in(path));
  results.add("at", sweep::json_string(text_of(program.place)));
  if (!program.inputs.empty()) results.add("inputs", inputs.text());
  if (!outputs.empty()) results.add("outputs", "[" + outputs + "]");
  row.key = key_of(row.parameters + inputs.text());
  vm::Attempt& attempt = row.attempt;
  attempt.outcome = outcome_of(program);
  attempt.duration_s = program.result.duration_s;
  attempt.started = vm::unix_time() - attempt.duration_s;
  attempt.exit_code = program.result.exit_code;
  attempt.signal = program.result.signal;
  if (attempt.outcome == vm::PointOutcome::not_started || attempt.outcome == vm::PointOutcome::no_result)
    attempt.detail = program.fault;
  attempt.results = results.text();
  add_output(request.stdout_path, attempt.stdout_end, attempt.stdout_size);
  if (request.stderr_path != request.stdout_path)
    add_output(request.stderr_path, attempt.stderr_end, attempt.stderr_size);
  add(std::move(row));
}

void TaskLog::ended(const vm::EndedMemoCall& call) {
  vm::PointRow row;
  row.key = call.call.key;
  const auto [text, inputs] = call_texts(call.call.function, call.call.inputs);
  row.parameters = parameters_of(call.call.function, text);
  sweep::JsonObject results;
  results.add("at", sweep::json_string(text_of(call.place)));
  results.add("inputs", inputs);
  results.add("source", call.is_from_record ? "\"record\"" : "\"run\"");
  results.add("code", sweep::json_string(fmt::format("{:016x}", vm::hash(call.call.code).low)));
  row.attempt.results = results.text();
  row.attempt.outcome = call.has_failed ? vm::PointOutcome::failed : vm::PointOutcome::ok;
  row.attempt.duration_s = call.duration_s;
  row.attempt.started = vm::unix_time() - call.duration_s;
  add(std::move(row));
}

std::optional<std::string> TaskLog::end(vm::RunState state) {
  const std::lock_guard lock(mutex_);
  try {
    if (opening_.valid()) recorder_ = opening_.get();
  } catch (const vm::RecordError& error) {
    problem_ = error.what();
  }
  if (!recorder_) return problem_;
  run_.id = recorder_->id();
  run_.state = state;
  run_.ended = vm::unix_time();
  run_.points = run_.ok + run_.failed;
  if (const auto written = recorder_->end(run_); !written) return written.error();
  return std::nullopt;
}

}  // namespace raddle::driver
