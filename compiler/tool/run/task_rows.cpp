#include "compiler/tool/run/task_rows.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "compiler/tool/formats/json_text.hpp"
#include "vm/external/shell_command.hpp"
#include "vm/record/file_version.hpp"
#include "vm/value/file_descriptor.hpp"
#include "vm/value/hash.hpp"
#include "vm/value/unix_time.hpp"

namespace raddle::tool {

namespace {

vm::PointOutcome outcome_of(const vm::EndedProgram& program) {
  const vm::ProcessResult& result = program.result;
  if (program.is_interrupted) return vm::PointOutcome::interrupted;
  if (!result.start_error.empty()) return vm::PointOutcome::not_started;
  if (result.timed_out) return vm::PointOutcome::timeout;
  if (result.signal != 0) return vm::PointOutcome::signal;
  if (result.exit_code != 0 && !program.fault.empty()) return vm::PointOutcome::exit_code;
  return program.fault.empty() ? vm::PointOutcome::ok : vm::PointOutcome::no_result;
}

/// Names of temporary files are other ones in each run: they become `TEMPORARY_1`, `TEMPORARY_2`.
class TemporaryNames {
 public:
  explicit TemporaryNames(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) names_.try_emplace(path, fmt::format("TEMPORARY_{}", names_.size() + 1));
  }
  std::string of(const std::string& path) const {
    const auto found = names_.find(path);
    return found == names_.end() ? path : found->second;
  }
  /// With these in place of those wherever they stand.
  std::string in(std::string text) const {
    for (const auto& [path, name] : names_)
      for (std::size_t at = text.find(path); at != std::string::npos; at = text.find(path, at + name.size()))
        text.replace(at, path.size(), name);
    return text;
  }

 private:
  std::map<std::string, std::string> names_;
};

/// The command line; of a very long one its beginning, and what tells it from others.
std::string command_of(const vm::ProcessRequest& request, const TemporaryNames& temporary) {
  constexpr std::size_t longest = 4000;
  std::string whole = temporary.in(vm::shell_command(request, vm::whole_command));
  if (whole.size() <= longest) return whole;
  return fmt::format("{} [#{:016x}]", temporary.in(vm::shell_command(request, longest)), vm::hash(whole).low);
}

/// As file_version(), but not of what a program has written and is large.
std::string output_version(vm::KeptFiles& files, const std::string& path) {
  constexpr std::uintmax_t largest_read = std::uintmax_t{1} << 20;
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  return error || size <= largest_read ? vm::file_version(files, path) : fmt::format("{} bytes", size);
}

/// @param path     where it was redirected to   @param printed  what came by way of raddle, else
void add_output(const std::string& path, const vm::PrintedText& printed, std::string& end, std::uint64_t& size) {
  end = printed.end;
  size = printed.size;
  std::error_code error;
  if (path.empty() || !std::filesystem::is_regular_file(path, error)) return;
  const vm::FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  size = vm::size_of(file);
  end = vm::end_of(file, size, vm::kept_output_bytes);
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

std::uint64_t TaskRows::begun(const std::vector<std::string>& inputs, const std::vector<std::string>&, bool) {
  std::vector<std::string> versions;
  for (const std::string& path : inputs) versions.push_back(vm::file_version(files_, path));
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    number = ++begun_;
    if (!versions.empty()) versions_.emplace(number, std::move(versions));
  }
  if (number == 1) begin();
  return number;
}

std::uint64_t TaskRows::count() const {
  const std::lock_guard lock(mutex_);
  return begun_;
}

std::vector<std::string> TaskRows::versions_of(const vm::EndedProgram& program) {
  const std::lock_guard lock(mutex_);
  const auto found = versions_.find(program.number);
  if (found == versions_.end()) return {};
  std::vector<std::string> versions = found->second;
  if (program.is_last) versions_.erase(found);
  return versions;
}

std::string TaskRows::place_text(vm::Place place) const {
  return sources_.describe({place.file, place.begin, place.end});
}

void TaskRows::ended(const vm::EndedProgram& program) {
  const vm::ProcessRequest& request = program.request;
  vm::PointRow row;
  row.number = program.number;
  row.attempt_number = program.attempt;
  row.is_last = program.is_last;
  const TemporaryNames temporary(program.temporaries);
  row.parameters = parameters_of(program.app, command_of(request, temporary));
  sweep::JsonObject inputs, outputs, results;
  const std::vector<std::string> versions = versions_of(program);
  for (std::size_t i = 0; i < versions.size(); ++i)
    inputs.add(temporary.of(program.inputs[i]), sweep::json_string(versions[i]));
  for (const std::string& path : program.outputs)
    outputs.add(temporary.of(path), sweep::json_string(output_version(files_, program.own.now(path))));
  results.add("at", sweep::json_string(place_text(program.place)));
  if (!program.outputs.empty()) results.add("outputs", outputs.text());
  vm::Attempt& attempt = row.attempt;
  if (!program.inputs.empty()) attempt.inputs = inputs.text();
  attempt.worker = program.result.slot;
  attempt.outcome = outcome_of(program);
  attempt.duration_s = program.result.duration_s;
  attempt.started = program.result.started != 0 ? program.result.started : vm::unix_time();
  attempt.exit_code = program.result.exit_code;
  attempt.signal = program.result.signal;
  if (attempt.outcome != vm::PointOutcome::exit_code && attempt.outcome != vm::PointOutcome::signal)
    attempt.detail = program.fault;
  attempt.results = results.text();
  add_output(program.own.now(request.stdout_path), program.result.out, attempt.stdout_end, attempt.stdout_size);
  if (request.stderr_path.empty() || request.stderr_path != request.stdout_path)
    add_output(program.own.now(request.stderr_path), program.result.error, attempt.stderr_end, attempt.stderr_size);
  add(std::move(row), /*is_taken=*/false);
}

void TaskRows::ended(const vm::EndedMemoCall& call) {
  vm::PointRow row;
  row.number = call.number != 0 ? call.number : begun({}, {}, false);
  const auto [text, inputs] = call_texts(call.call.function, call.call.inputs);
  row.parameters = parameters_of(call.call.function, text);
  sweep::JsonObject results;
  results.add("at", sweep::json_string(place_text(call.place)));
  results.add("source", call.is_from_record ? "\"record\"" : "\"run\"");
  if (!call.result.empty()) results.add("result", sweep::json_string(call.result));
  results.add("code", sweep::json_string(fmt::format("{:016x}", vm::hash(call.call.code).low)));
  sweep::JsonObject reads;
  for (const vm::ReadFile& file : call.reads) reads.add(file.name, sweep::json_string(file.version));
  if (!call.reads.empty()) results.add("reads", reads.text());
  row.attempt.results = results.text();
  row.attempt.inputs = inputs;
  row.attempt.worker = call.worker;
  row.attempt.outcome = call.fault.empty() ? vm::PointOutcome::ok : vm::PointOutcome::failed;
  row.attempt.detail = call.fault;
  row.attempt.duration_s = call.duration_s;
  row.attempt.started = vm::unix_time() - call.duration_s;
  add(std::move(row), call.is_from_record);
}

}  // namespace raddle::tool
