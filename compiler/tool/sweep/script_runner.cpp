#include "compiler/tool/sweep/script_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "compiler/tool/process/out_of_memory.hpp"
#include "compiler/tool/run/device_rows.hpp"
#include "compiler/tool/run/report_run.hpp"
#include "compiler/tool/executable/script_arguments.hpp"
#include "compiler/tool/run/task_rows.hpp"
#include "compiler/tool/formats/json_text.hpp"
#include "vm/value/array.hpp"
#include "vm/value/text.hpp"
#include "vm/value/unix_time.hpp"

namespace raddle::tool {

namespace {

double seconds_since(RunThreads::Clock::time_point begin) {
  return std::chrono::duration<double>(RunThreads::Clock::now() - begin).count();
}

/// What a run prints: how much, and its end.
class Printed {
 public:
  /// @param most  bytes of its end that are kept
  explicit Printed(std::size_t most) : most_(most) {}
  void add(std::string_view text) {
    const std::lock_guard lock(mutex_);
    size_ += text.size();
    end_ += text.substr(text.size() - std::min(text.size(), most_));
    if (end_.size() > 2 * most_) end_.erase(0, end_.size() - most_);
  }
  const std::string& end() const { return end_; }
  std::string end(std::size_t most) const { return end_.substr(end_.size() - std::min(end_.size(), most)); }
  std::uint64_t size() const { return size_; }

 private:
  const std::size_t most_;
  std::mutex mutex_;  // guards the rest while the run lasts
  std::string end_;
  std::uint64_t size_ = 0;
};

/// What a point's programs and calls of `@memo` functions leave in the record, and which files it reads.
class PointTasks final : public TaskRows {
 public:
  PointTasks(const SourceMap& sources, vm::Recorder& recorder, sweep::InputFiles& files, const sweep::Point& point,
             std::uint32_t attempt)
      : TaskRows(sources), recorder_(recorder), files_(files), point_(point), attempt_(attempt) {
    for (const vm::NamedFile& file : files.declared(point)) note(files.now(file));
  }

  std::uint64_t begun(const std::vector<std::string>& inputs, const std::vector<std::string>& words,
                      bool is_first) override {
    for (sweep::InputFiles::Input& input : files_.at_begin(words, inputs)) {
      if (!input.is_certain && !is_first && vm::may_be_written_after(input.path, begin_)) continue;
      input.is_certain |= std::ranges::binary_search(inputs, input.path);
      note(input);
    }
    return TaskRows::begun(inputs, words, is_first);
  }
  void reads(const vm::NamedFile& file) override {
    const sweep::InputFiles::Input input = files_.now(file);
    if (file.is_pattern || !file.may_be_made || !vm::is_written_after(input.path, begin_)) note(input);
  }
  void writes(const std::string& path) override {
    std::error_code ignored;
    const bool is_there = std::filesystem::exists(path, ignored);
    const std::lock_guard lock(mutex_);
    outputs_.try_emplace(path, is_there);
  }
  void ended(const vm::EndedProgram& program) override {
    {
      const std::lock_guard lock(mutex_);
      for (const auto* paths : {&program.temporaries, &program.outputs}) made_.insert(paths->begin(), paths->end());
    }
    TaskRows::ended(program);
  }
  using TaskRows::ended;

  /// After the run: vm::Attempt::inputs. What points have made themselves is none of what they read.
  /// @param outputs  of collectors
  std::string inputs(vm::PointFiles& written, sweep::InputFiles::Outputs outputs) const {
    outputs.insert(outputs_.begin(), outputs_.end());
    sweep::InputFiles::Inputs inputs;
    for (const auto& [path, input] : inputs_)
      if (!made_.contains(path) && !written.is_written(path)) inputs.push_back(input);
    return files_.at_end(inputs, outputs);
  }

 private:
  void add(vm::PointRow row, bool) override {
    row.point = point_.number;
    row.point_attempt = attempt_;
    recorder_.add(std::move(row));
  }

  void note(const sweep::InputFiles::Input& input) {
    const std::lock_guard lock(mutex_);
    sweep::InputFiles::Input& noted = inputs_.try_emplace(input.path, input).first->second;
    noted.is_certain |= input.is_certain;
    files_.join(noted, input);
  }

  const vm::FileTime begin_ = vm::time_of_files();  // what is new then a program has made that does not say so
  vm::Recorder& recorder_;
  sweep::InputFiles& files_;
  const sweep::Point& point_;
  const std::uint32_t attempt_;
  std::mutex mutex_;                                        // guards the rest while the run lasts
  std::map<std::string, sweep::InputFiles::Input> inputs_;  // by path
  std::set<std::string> made_;
  sweep::InputFiles::Outputs outputs_;
};

/// @return false if the value is none of a number's
bool word_of(const vm::Value& value, std::int64_t& word) {
  switch (value.kind()) {
    case vm::ValueKind::int_: word = value.as_int(); return true;
    case vm::ValueKind::float_: word = std::bit_cast<std::int64_t>(value.as_float()); return true;
    case vm::ValueKind::boolean: word = value.as_bool(); return true;
    default: return false;  // not set, or failed
  }
}

void tell(const SourceMap& sources, Diagnostics& findings, sweep::Attempt& attempt) {
  findings.order_by_position(0);
  std::string text;
  for (const Diagnostic& finding : findings.all()) text += render(finding, sources, /*colour=*/false);
  attempt.stderr_size += text.size();
  attempt.stderr_end += text.substr(0, sweep::kept_output_bytes - attempt.stderr_end.size());
}

/// What went wrong, as a run of the script would tell it.
void tell_failure(const SourceMap& sources, const vm::RunResult& result, sweep::Attempt& attempt) {
  Diagnostics findings;
  add_findings(sources, findings, result);
  tell(sources, findings, attempt);
  if (findings.all().empty()) return;
  const Diagnostic& first = findings.all().front();
  attempt.detail = fmt::format("{}: {}", sources.describe(first.span), first.message);
}

}  // namespace

ScriptRunner::ScriptRunner(ScriptSubject& subject, vm::RunOptions settings, const sweep::Space& space,
                           const sweep::PointColumns& points, const std::vector<sweep::Collector>& collectors,
                           sweep::InputFiles& inputs, unsigned jobs, double timeout_s)
    : subject_(subject),
      settings_(std::move(settings)),
      space_(space),
      points_(points),
      collectors_(collectors),
      inputs_(inputs),
      timeout_s_(timeout_s),
      threads_(jobs, timeout_s) {
  tell_places_in(subject.sources());
  if (vm::BoundedMemory* const memory = vm::BoundedMemory::get()) memory->keep_moves(vm::DeviceLog::usual_most);
}

vm::RunOptions ScriptRunner::options_for(Active& active) const {
  vm::RunOptions options = settings_;
  options.cancel = &active.cancel;
  options.kernel_compiler = subject_.kernel_compiler();
  options.app_kernel_compiler = subject_.app_kernel_compiler();
  options.call_record = &subject_.call_record();
  options.device_log = &device_log_;
  return options;
}

std::vector<vm::DeviceRow> ScriptRunner::device_rows() {
  return tool::device_rows(device_log_, settings_.devices.get(), subject_.sources());
}

// ---------------------------------------------------------------- one point

void ScriptRunner::run(const sweep::Point& point, std::uint32_t attempt, std::function<void(sweep::Attempt)> done) {
  threads_.begin({.run =
                      [this, point, attempt, done](Active& active) {
                        sweep::Attempt ended = run_point(point, attempt, active);
                        if (threads_.may_tell(active)) done(std::move(ended));
                      },
                  .tell_lost = done});
}

sweep::Attempt ScriptRunner::run_point(const sweep::Point& point, std::uint32_t attempt_number, Active& active) {
  vm::RunOptions options = options_for(active);
  Printed printed(sweep::collected_output_bytes(collectors_)), printed_errors(sweep::kept_output_bytes);
  PointTasks tasks(subject_.sources(), *recorder_, inputs_, point, attempt_number);
  options.listener = &tasks;
  options.program_outputs.out.take = [&printed](std::string_view text) { return printed.add(text), true; };
  options.program_outputs.of_servers = true;
  options.program_outputs.error.take = [&printed_errors](std::string_view text) {
    return printed_errors.add(text), true;
  };
  options.settings.seed = point.seed;
  options.point_files = &point_files_;
  options.point = point.number;
  options.settings.print = [&printed](std::string_view text) { printed.add(text); };
  for (std::size_t i = 0; i < subject_.checked().parameters.size(); ++i) {
    const std::optional<std::size_t> source = subject_.source_of(i);
    options.arguments.push_back(source ? *read_value(subject_.type_of(i), point.values[*source])
                                       : default_value(subject_.checked(), subject_.checked().parameters[i]));
  }
  // seed and stream of a script that takes them: opt/bodies/explicit_streams.hpp
  options.arguments.insert(options.arguments.end(), 2, vm::Value::of(static_cast<std::int64_t>(point.seed)));
  sweep::Attempt attempt;
  attempt.worker = active.worker;
  attempt.started = active.started;
  const sweep::FilesBefore before = sweep::files_before(collectors_, point, {});
  const vm::RunResult result = vm::run(subject_.program(), options);
  attempt.duration_s = seconds_since(active.begin);
  attempt.inputs = tasks.inputs(point_files_, sweep::outputs_of(collectors_, point, {}, before));
  const std::string& end = printed.end();
  attempt.stdout_size = printed.size();
  attempt.stdout_end = printed.end(sweep::kept_output_bytes);
  attempt.stderr_size = printed_errors.size();
  attempt.stderr_end = printed_errors.end(sweep::kept_output_bytes / 2);
  Diagnostics replaced;
  add_replaced(subject_.sources(), replaced, result);
  tell(subject_.sources(), replaced, attempt);
  switch (result.status) {
    case vm::RunStatus::ok: take_results(point, result, end, before, attempt); return attempt;
    case vm::RunStatus::failed: attempt.outcome = vm::PointOutcome::failed; break;
    case vm::RunStatus::stuck: attempt.outcome = vm::PointOutcome::stuck; break;
    case vm::RunStatus::cancelled: attempt.outcome = vm::PointOutcome::failed; break;
  }
  tell_failure(subject_.sources(), result, attempt);
  if (threads_.is_late(active)) {
    attempt.outcome = vm::PointOutcome::timeout;
    attempt.detail.clear();
  }
  return attempt;
}

void ScriptRunner::take_results(const sweep::Point& point, const vm::RunResult& result, const std::string& printed,
                                const sweep::FilesBefore& before, sweep::Attempt& attempt) const {
  const auto lack = [&](std::string what) {
    attempt.outcome = vm::PointOutcome::no_result;
    attempt.detail = std::move(what);
  };
  sweep::JsonObject results;
  for (std::size_t i = 0; i < result.results.size(); ++i) {
    if (!result.results[i]) return lack(fmt::format("`{}` was not assigned", subject_.result_name(i)));
    const std::string text = vm::result_text(result.results[i]);
    if (std::string fault = sweep::fault_of_size(subject_.result_name(i), text); !fault.empty())
      return lack(std::move(fault));
    const bool is_string = result.results[i].kind() == vm::ValueKind::string;
    results.add(subject_.result_name(i), is_string ? sweep::json_string(text) : sweep::json_value(text));
  }
  if (!collectors_.empty() || !subject_.has_results()) {
    const std::vector<std::string> assigned = subject_.result_names();
    const auto collected = sweep::collect_all(collectors_, point, {}, printed, before);
    if (!collected) return lack(collected.error());
    for (const sweep::JsonMember& member : sweep::typed_members(*collected)) {
      if (std::ranges::find(assigned, member.name) != assigned.end())
        return lack(sweep::fault_of_name(member.name) + ": the script assigns one of them");
      results.add(member.name, sweep::json_of(member));
    }
  }
  attempt.results = results.text();
}

// ---------------------------------------------------------------- blocks

void ScriptRunner::run(std::vector<std::uint64_t> numbers, std::function<void(sweep::BlockResult)> done) {
  threads_.begin({.run = [this, numbers = std::move(numbers), done = std::move(done)](Active& active) {
    sweep::BlockResult ended = run_block(numbers, active);
    if (threads_.may_tell(active)) done(std::move(ended));
  }});
}

vm::Value ScriptRunner::column_of(std::size_t parameter, const std::vector<std::uint64_t>& numbers) const {
  const std::optional<std::size_t> source = subject_.source_of(parameter);
  if (!source) return default_value(subject_.checked(), subject_.checked().parameters[parameter]);
  const TypeId type = subject_.type_of(parameter);
  const auto array = [](vm::Ref<vm::Array> values) {
    return vm::Value::of_object(vm::ValueKind::array, std::move(values));
  };
  if (type == TypeStore::float_) return array(vm::Array::packed_of(points_.floats(*source, numbers)));
  if (type == TypeStore::int_) return array(vm::Array::packed_of(points_.ints(*source, numbers)));
  std::vector<vm::Value> values;
  for (const std::uint64_t number : numbers)
    values.push_back(*read_value(type, space_.value(*source, space_.value_index(*source, number))));
  return array(vm::Array::dense(std::move(values)));
}

vm::RunResult ScriptRunner::compute(const std::vector<std::uint64_t>& numbers, Active& active) const {
  vm::RunOptions options = options_for(active);
  options.keep_going = true;
  options.notes_iterations = true;
  options.leaf_threshold = 0;  // blocks wait for machine code
  options.arguments.push_back(vm::Value::of(static_cast<std::int64_t>(numbers.size())));
  for (std::size_t i = 0; i < subject_.checked().parameters.size(); ++i)
    options.arguments.push_back(column_of(i, numbers));
  if (subject_.uses_seed())
    options.arguments.push_back(
        vm::Value::of_object(vm::ValueKind::array, vm::Array::packed_of(points_.seeds(numbers))));
  return vm::run(subject_.block_program(), options);
}

sweep::BlockResult ScriptRunner::run_block(const std::vector<std::uint64_t>& numbers, Active& active) {
  sweep::BlockResult block;
  block.row.worker = active.worker;
  block.row.started = active.started;
  const vm::RunResult result = compute(numbers, active);
  block.row.duration_s = seconds_since(active.begin);
  Computed computed = results_of(numbers, result);
  const bool is_cut = active.cancel.is_cancelled();
  if (is_cut && !result.failures.empty()) return block;
  if (!is_cut) block.others = std::move(computed.others);
  fill(block, std::move(computed));
  return block;
}

/// Takes results out of the arrays.
ScriptRunner::Computed ScriptRunner::results_of(const std::vector<std::uint64_t>& numbers,
                                                const vm::RunResult& result) {
  // a failure outside of any iteration may be any point's
  std::vector<bool> has_failed(numbers.size(), !result.failures.empty() && result.failed_iterations.empty());
  for (const std::int64_t point : result.failed_iterations) has_failed[static_cast<std::size_t>(point)] = true;
  Computed computed;
  computed.columns.resize(result.results.size());
  std::vector<std::int64_t> words(computed.columns.size());
  for (auto& column : computed.columns) column.reserve(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    bool is_good = !has_failed[i];
    for (std::size_t k = 0; k < words.size() && is_good; ++k) {
      const vm::Value array = result.results[k];
      is_good = array && word_of(array.as_array().get(vm::Value::of(static_cast<std::int64_t>(i))), words[k]);
    }
    (is_good ? computed.numbers : computed.others).push_back(numbers[i]);
    for (std::size_t k = 0; k < words.size() && is_good; ++k) computed.columns[k].push_back(words[k]);
  }
  return computed;
}

void ScriptRunner::fill(sweep::BlockResult& block, Computed computed) const {
  std::vector<std::uint64_t>& ok = computed.numbers;
  if (ok.empty()) return;
  const auto [first, last] = std::ranges::minmax(ok);
  block.row.first = first;
  block.row.last = last;
  block.row.keys = points_.keys(ok);
  if (!std::ranges::is_sorted(ok) || last - first + 1 != ok.size()) block.row.numbers = std::move(ok);
  block.row.columns = std::move(computed.columns);
}

}  // namespace raddle::tool
