// App functions: external programs.
#include <fcntl.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "vm/calls/app_limits.hpp"
#include "vm/calls/end_of_file.hpp"
#include "vm/calls/files_in.hpp"
#include "vm/calls/memo_caller.hpp"
#include "vm/calls/program_caller.hpp"
#include "vm/calls/program_run.hpp"
#include "vm/external/shell_command.hpp"
#include "vm/interpret/run_state.hpp"
#include "vm/interpret/task_listener.hpp"
#include "vm/interpret/task_timer.hpp"
#include "vm/value/borrow.hpp"
#include "vm/value/file_descriptor.hpp"
#include "vm/value/file_place.hpp"
#include "vm/value/temporaries.hpp"
#include "vm/value/text.hpp"
#include "vm/value/whole_file.hpp"

namespace raddle::vm {

namespace {

constexpr std::size_t longest_command = 400;  // in a message, about

/// One word for a scalar or file, one for each element of an array, in key order, however deep.
void append_words(std::vector<std::string>& words, const Value& value) {
  if (value.kind() == ValueKind::array) {
    value.as_array().for_each([&words](const Value&, const Value& element) { append_words(words, element); });
  } else if (value.kind() == ValueKind::bag) {
    value.as_bag().for_each([&words](const Value& element) { append_words(words, element); });
  } else {
    words.push_back(value.kind() == ValueKind::file ? value.as_file().path() : to_text(value));
  }
}

/// The end of what it has written to standard error, if that is a file: it goes with the other outputs.
std::vector<std::string> said_last(const ProgramRun& run) {
  const std::string& path = run.request.stderr_path;
  if (path.empty() || !run.result.start_error.empty()) return {};
  std::vector<std::string> lines = last_lines(run.own.now(path));
  for (std::string& line : lines) line.insert(0, "  ");
  if (!lines.empty()) lines.insert(lines.begin(), fmt::format("the end of its standard error, `{}`:", path));
  return lines;
}

/// Help for a whole command line that is one word, as `"echo hi"`, "" for others.
std::string help_for_start(const ProgramRun& run) {
  const std::string& program = run.request.words[0];
  if (run.result.start_error.empty() || program.find(' ') == std::string::npos || run.request.words.size() > 1)
    return {};
  return "each word of a command line is a value of its own, as in `\"sort\" \"-n\" input`";
}

/// Of a program that has failed: they must not be taken for results. A file that was there before and that it has not
/// touched is not its output.
void remove_outputs(ProgramRun& run) {
  for (std::size_t i = 0; i < run.output_paths.size(); ++i) {
    const std::string& path = run.output_paths[i];
    const bool is_mapped = object_in<File>(run.frame.at(run.outputs[i])).is_mapped();
    const bool is_as_before = is_mapped && run.before[i] && run.before[i] == identity_of(path);
    if (run.own.now(path) == path && !is_as_before) remove_files({path});
  }
  run.own.clear();
}

/// A file without a name of its own is there before its program begins. One that can not be made is told of when it is
/// missing at the end.
void make_empty(const std::string& path) {
  const FileDescriptor made(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

/// Others the program makes under names of its own.
bool is_told_to_program(const AppSite& site, Operand output) {
  return output == site.stdout_file || output == site.stderr_file ||
         std::ranges::find(site.words, output) != site.words.end();
}

/// What can not be started will not start the next time either.
bool may_try_again(const ProgramRun& run) { return run.attempt < run.attempts && run.result.start_error.empty(); }

}  // namespace

bool ProgramCaller::run_app(Frame& frame, const Instruction& in) {
  const AppSite& site = program_.apps[in.d];
  auto* program = here_.make<ProgramRun>(frame, site, here_.index_of(in));
  const std::string problem = prepare(*program);
  const Value failure = problem.empty() ? begin_outputs(frame, in, WrittenFiles::How::by_program, program->begun)
                                        : here_.failure_at(frame, here_.index_of(in), problem);
  if (failure) {
    fail_program(frame, site, failure);
    here_.destroy(program);
    return false;
  }
  for (std::size_t i = 0; i < program->outputs.size(); ++i) {
    const bool is_plain = std::ranges::find(site.named_outputs, program->outputs[i]) == site.named_outputs.end();
    const std::string& path = program->output_paths[i];
    if (is_plain && is_told_to_program(site, program->outputs[i]) &&
        object_in<File>(frame.at(program->outputs[i])).is_mapped() && program->own.add(path))
      run_.written_files.write_aside(program->begun, path);
  }
  here_.memos().note_words(frame, site, program->request.words);
  const bool is_first = run_.note_program();
  frame.retain();
  run_.throttle.begin();
  if (run_.options.listener)
    program->number = run_.options.listener->begun(program->input_paths, program->request.words, is_first);
  start_when_alone(*program);
  return true;
}

/// Fills the request. @return what is wrong with it, "" if nothing
std::string ProgramCaller::prepare(ProgramRun& program) {
  Frame& frame = program.frame;
  const AppSite& site = program.site;
  ProcessRequest& request = program.request;
  const auto path_of = [&frame](Operand file) {
    return file.is_absent() ? std::string() : object_in<File>(frame.at(file)).path();
  };
  for (const Operand output : site.url_outputs) {
    if (object_in<File>(frame.at(output)).is_mapped()) continue;
    const std::string& name = frame.body.variables[output.index()].name;
    return fmt::format("output `{}` is a `url`: what it is assigned to needs a mapping, as in `url x<\"...\">`", name);
  }
  for (const Operand output : site.file_outputs) {
    if (std::ranges::find(site.url_outputs, output) != site.url_outputs.end()) continue;  // not in our file system
    File& file = object_in<File>(frame.at(output));
    program.outputs.push_back(output);
    program.output_paths.push_back(file.path());
    if (program.output_paths.back().empty()) {
      return fmt::format("no temporary file could be made in `{}`", temporary_folder());
    }
    if (const auto target = target_of_links(program.output_paths.back()); !target)
      return fmt::format("`{}` can not be written: {}", program.output_paths.back(), error_text(target.error()));
    make_folder_of(program.output_paths.back());
  }
  for (const Operand word : site.words) {
    if (std::ranges::find(site.file_outputs, word) != site.file_outputs.end())
      program.output_words.push_back(request.words.size());
    append_words(request.words, frame.at(word).get());
  }
  if (run_.options.listener) {
    std::vector<File*> files;
    for (const Operand word : site.words) append_files(files, frame.at(word).get());
    if (!site.stdin_file.is_absent()) files.push_back(&object_in<File>(frame.at(site.stdin_file)));
    std::set<std::string> inputs;
    for (File* file : files) inputs.insert(file->path());
    for (const std::string& path : program.output_paths) inputs.erase(path);
    program.input_paths.assign(inputs.begin(), inputs.end());
    for (const Operand output : site.file_outputs) files.push_back(&object_in<File>(frame.at(output)));
    for (File* file : files)
      if (!file->is_named()) program.temporary_paths.push_back(file->path());
  }
  if (request.words[0].empty()) return "the name of the program is empty";
  const auto limits = read_limits(frame, site, run_.options);
  if (!limits) return limits.error();
  program.attempts = limits->attempts;
  program.ok_codes = limits->ok_codes;
  request.timeout_s = limits->timeout_s;
  request.priority = limits->priority;
  request.cores = limits->cores;
  request.memory_bytes = limits->memory_bytes;
  request.delay_s = run_.options.apps.delay_s * uniform(frame.stream);
  request.stdin_path = path_of(site.stdin_file);
  request.stdout_path = path_of(site.stdout_file);
  request.stderr_path = path_of(site.stderr_file);
  request.environment = run_.outside.environment_of(own_rank());
  request.environment.emplace_back("TURBINE_APP_LABEL", site.label);
  if (TaskListener* const listener = run_.options.listener)
    request.on_start = [listener, &program](const ProcessRequest&) { listener->started(program.request); };
  return {};
}

bool ProgramCaller::is_recorded() const {
  return run_.options.call_record != nullptr || run_.options.listener != nullptr;
}

bool ProgramCaller::wait_for_others(ProgramRun& program) {
  constexpr double pause_s = 0.05;
  run_.pool.hold();
  const auto look_again = [&program, &pool = run_.pool] {
    pool.inject(program);
    pool.release_hold();
  };
  if (run_.outside.timers().after(pause_s, look_again)) return true;
  run_.pool.release_hold();
  return false;
}

void ProgramCaller::start_when_alone(ProgramRun& program) {
  program.waits_for_others = is_recorded() && !program.claim_outputs(/*are_in_place=*/true) && wait_for_others(program);
  if (!program.waits_for_others) start_program(program);
}

void ProgramCaller::start_program(ProgramRun& program) {
  ++here_.counters.programs_started;
  if (run_.options.trace_program) {
    run_.options.trace_program(
        fmt::format("app {}: {}", program.site.label, shell_command(program.request, whole_command)));
  }
  const bool prints_by_itself = !run_.options.program_outputs.out.take || is_stream(program.request.stdout_path) ||
                                is_stream(program.request.stderr_path);
  if (run_.options.before_program && prints_by_itself) run_.options.before_program();
  for (std::size_t i = 0; i < program.outputs.size(); ++i)
    if (!object_in<File>(program.frame.at(program.outputs[i])).is_mapped()) make_empty(program.output_paths[i]);
  program.before.clear();
  for (const std::string& path : program.output_paths) program.before.push_back(identity_of(path));
  run_.pool.hold();
  const auto ended = [&program, &pool = run_.pool](ProcessResult result) {
    program.result = std::move(result);
    pool.inject(program);
    pool.release_hold();
  };
  run_.outside.processes().spawn(program.request_aside(), ended);
}

ProcessRequest ProgramRun::request_aside() const {
  ProcessRequest aside = request;
  for (const std::size_t word : output_words) aside.words[word] = own.now(request.words[word]);
  aside.stdout_path = own.now(request.stdout_path);
  aside.stderr_path = own.now(request.stderr_path);
  return aside;
}

bool ProgramRun::claim_outputs(bool are_in_place) {
  std::map<std::string, FileClaim> more;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string& path = output_paths[i];
    if (!object_in<File>(frame.at(outputs[i])).is_mapped() || (own.now(path) == path) != are_in_place) continue;
    const std::string place = file_place(path);
    if (place.empty() || claims.contains(place) || more.contains(place)) continue;
    FileClaim claim = claim_file(place);
    if (!claim) return false;
    more.emplace(place, std::move(claim));
  }
  claims.merge(more);
  return true;
}

std::string ProgramRun::conclude() {
  std::string text = fault();
  if (text.empty()) text = missing_output();  // nothing is placed where something is missing
  if (text.empty()) text = own.place();
  return text.empty() ? missing_output() : text;  // a link leads somewhere only where it is placed
}

std::string ProgramRun::fault() const {
  const std::string& program = request.words[0];
  if (!result.start_error.empty()) return fmt::format("`{}` could not be started: {}", program, result.start_error);
  if (result.timed_out) return fmt::format("`{}` took longer than {} s and was ended", program, request.timeout_s);
  if (result.signal != 0) {
    return fmt::format("`{}` was ended by signal {} ({})", program, result.signal, strsignal(result.signal));
  }
  const bool is_any_ok = !site.exit_code.is_absent() && site.ok.is_absent();  // the script looks at it
  if (!is_any_ok && std::ranges::find(ok_codes, result.exit_code) == ok_codes.end())
    return fmt::format("`{}` ended with exit code {}", program, result.exit_code);
  return {};
}

std::string ProgramRun::missing_output() const {
  const std::string& program = request.words[0];
  for (std::size_t i = 0; i < output_paths.size(); ++i) {
    std::error_code unknown;  // it is as good as missing
    const std::string now = own.now(output_paths[i]);
    const bool is_aside = now != output_paths[i];
    if (std::filesystem::exists(is_aside ? std::filesystem::symlink_status(now, unknown)
                                         : std::filesystem::status(now, unknown)) ||
        (is_aside && std::filesystem::exists(output_paths[i], unknown)))
      continue;
    const Operand output = outputs[i];
    if (object_in<File>(frame.at(output)).is_mapped()) {
      return fmt::format("`{}` did not make its output file `{}`", program, output_paths[i]);
    }
    return fmt::format("`{}` did not make its output `{}`", program, frame.body.variables[output.index()].name);
  }
  return {};
}

void ProgramRun::tell(TaskListener& listener, const std::string& fault, bool is_last, bool is_interrupted) const {
  listener.ended({.number = number,
                  .attempt = static_cast<std::uint32_t>(attempt),
                  .is_last = is_last,
                  .app = site.label,
                  .place = frame.place_of_call(instruction),
                  .request = request,
                  .result = result,
                  .fault = fault,
                  .is_interrupted = is_interrupted,
                  .inputs = input_paths,
                  .outputs = output_paths,
                  .own = own,
                  .temporaries = temporary_paths});
}

void ProgramRun::run(Worker& worker) {
  RunWorker& here = frame.run_state.on(worker);
  const TaskTimer timer(here, TaskKind::ending, frame, instruction);
  if (waits_for_others) return here.programs().start_when_alone(*this);
  here.programs().finish_program(this);
}

void ProgramCaller::finish_program(ProgramRun* finished) {
  Frame& frame = finished->frame;
  if (is_recorded() && has_file_claims() && !finished->claim_outputs(/*are_in_place=*/false) &&
      wait_for_others(*finished))
    return;
  const std::string problem = finished->conclude();
  if (TaskTrace* const trace = run_.options.trace) {
    const auto duration_ns = static_cast<std::int64_t>(finished->result.duration_s * 1e9);
    trace->add(worker_->index(), {.start_ns = std::max<std::int64_t>(trace->now_ns() - duration_ns, 0),
                                  .duration_ns = duration_ns,
                                  .kind = TaskKind::program,
                                  .has_failed = !problem.empty(),
                                  .name = &finished->site.label,
                                  .instruction = finished->instruction});
  }
  if (run_.options.listener)
    finished->tell(*run_.options.listener, problem, /*is_last=*/problem.empty() || !may_try_again(*finished));
  if (problem.empty()) {
    run_.written_files.end(finished->begun);
    set_app_outputs(*finished);
  } else {
    FailureNotes notes;
    notes.details.push_back("the command: " + shell_command(finished->request, longest_command));
    std::ranges::move(said_last(*finished), std::back_inserter(notes.details));
    notes.help = help_for_start(*finished);
    remove_outputs(*finished);
    std::string message = problem;
    if (finished->attempts > 1) message += fmt::format(" (attempt {} of {})", finished->attempt, finished->attempts);
    if (run_.options.trace_program)
      run_.options.trace_program(fmt::format("app {}: {}", finished->site.label, message));
    if (may_try_again(*finished)) {
      finished->result = {};
      finished->request.delay_s = back_off_s(run_.options.apps, finished->attempt++, frame.stream);
      return start_program(*finished);
    }
    run_.written_files.end(finished->begun);
    fail_program(frame, finished->site, here_.failure_at(frame, finished->instruction, message, std::move(notes)));
  }
  here_.destroy(finished);
  here_.release(&frame);
  run_.throttle.end(1);
}

void ProgramCaller::set_app_outputs(const ProgramRun& program) {
  Frame& frame = program.frame;
  for (const Operand output : program.site.file_outputs) {
    File& file = object_in<File>(frame.at(output));
    if (run_.options.call_record) file.set_written(program.own.identity(file.path()));
    if (!here_.set(file.complete(), Value::of_void())) here_.assigned_twice(frame, program.instruction, file.path());
  }
  for (const Operand output : program.site.outputs) {
    const Value value =
        output == program.site.exit_code ? Value::of(std::int64_t{program.result.exit_code}) : Value::of_void();
    here_.set(frame.at(output), value, frame, program.instruction, output);
  }
}

void ProgramCaller::fail_program(Frame& frame, const AppSite& site, const Value& failure) {
  for (const Operand output : site.file_outputs) {
    const Future& file = frame.at(output);
    if (!file.is_failed()) here_.set(object_in<File>(file).complete(), failure);
  }
  here_.fail_all(frame, site.outputs, failure);
}

}  // namespace raddle::vm
