// App functions: external programs.
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "vm/interpret/borrow.hpp"
#include "vm/interpret/interpreter.hpp"
#include "vm/interpret/program_run.hpp"
#include "vm/interpret/run_state.hpp"
#include "vm/value/text.hpp"

namespace raddle::vm {

namespace {

/// One word for a scalar or file, one for each element of an array, in key order, however deep.
void append_words(std::vector<std::string>& words, const Value& value) {
  switch (value.kind()) {
    case ValueKind::array:
      value.as_array().for_each([&words](const Value&, const Value& element) { append_words(words, element); });
      break;
    case ValueKind::bag:
      value.as_bag().for_each([&words](const Value& element) { append_words(words, element); });
      break;
    case ValueKind::file: words.push_back(value.as_file().path()); break;
    default: words.push_back(to_text(value));
  }
}

void make_folder_of(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code ignored;  // the program says what it could not open
  if (!folder.empty()) std::filesystem::create_directories(folder, ignored);
}

/// "" if it has succeeded.
std::string what_went_wrong(const ProgramRun& run) {
  const ProcessResult& result = run.result;
  if (!result.start_error.empty()) return fmt::format("`{}` could not be started: {}", run.program, result.start_error);
  if (result.timed_out) return fmt::format("`{}` took too long and was ended", run.program);
  if (result.signal != 0) {
    return fmt::format("`{}` was ended by signal {} ({})", run.program, result.signal, strsignal(result.signal));
  }
  if (result.exit_code != 0) return fmt::format("`{}` ended with exit code {}", run.program, result.exit_code);
  for (const Operand output : run.site.file_outputs) {
    const std::string& path = object_in<File>(run.frame.at(output)).path();
    if (!std::filesystem::exists(path)) return fmt::format("`{}` did not make its output file `{}`", run.program, path);
  }
  return {};
}

}  // namespace

bool Interpreter::run_app(Frame& frame, const Instruction& in) {
  const AppSite& site = program_.apps[in.d];
  ProcessRequest request;
  for (const Operand word : site.words) append_words(request.words, frame.at(word).get());
  const auto path_of = [&frame](Operand file) {
    return file.is_absent() ? std::string() : object_in<File>(frame.at(file)).path();
  };
  request.stdin_path = path_of(site.stdin_file);
  request.stdout_path = path_of(site.stdout_file);
  request.stderr_path = path_of(site.stderr_file);
  request.environment = {{"TURBINE_APP_LABEL", program_.functions[frame.body.function].name}};
  if (request.words.empty()) {
    fail_program(frame, site, failure_at(frame, index_of(in), "the command line is empty"));
    return false;
  }
  for (const Operand output : site.file_outputs) make_folder_of(path_of(output));
  ++counters.programs_started;
  if (run_.options.before_program) run_.options.before_program();
  frame.retain();
  auto* started = make<ProgramRun>(frame, site, index_of(in), request.words[0]);
  run_.pool.hold();
  run_.throttle.begin();
  run_.outside.processes().spawn(std::move(request), [started, &pool = run_.pool](ProcessResult result) {
    started->result = std::move(result);
    pool.inject(*started);
    pool.release_hold();
  });
  return true;
}

void ProgramRun::run(Worker& worker) {
  Interpreter& interpreter = frame.run_state.interpreter(worker).on(worker);
  ++interpreter.counters.tasks;
  interpreter.finish_program(this);
}

void ProgramRun::remove_outputs() {
  std::error_code ignored;
  for (const Operand output : site.file_outputs) {
    std::filesystem::remove(object_in<File>(frame.at(output)).path(), ignored);
  }
}

void Interpreter::finish_program(ProgramRun* finished) {
  Frame& frame = finished->frame;
  const AppSite& site = finished->site;
  const std::string problem = what_went_wrong(*finished);
  if (problem.empty()) {
    for (const Operand output : site.file_outputs) {
      File& file = object_in<File>(frame.at(output));
      if (!set(file.complete(), Value::of_void())) assigned_twice(frame, finished->instruction, file.path());
    }
    for (const Operand output : site.void_outputs) {
      set(frame.at(output), Value::of_void(), frame, finished->instruction, output);
    }
  } else {
    finished->remove_outputs();  // what is left half-written must not be taken for a result
    fail_program(frame, site, failure_at(frame, finished->instruction, problem));
  }
  destroy(finished);
  release(&frame);
  run_.throttle.end(1);
}

void Interpreter::fail_program(Frame& frame, const AppSite& site, const Value& failure) {
  for (const Operand output : site.file_outputs) {
    const Future& file = frame.at(output);
    if (!file.is_failed()) set(object_in<File>(file).complete(), failure);
  }
  fail_all(frame, site.void_outputs, failure);
}

}  // namespace raddle::vm
