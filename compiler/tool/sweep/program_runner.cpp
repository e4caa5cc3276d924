#include "compiler/tool/sweep/program_runner.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <ranges>
#include <stdexcept>
#include <system_error>

#include "compiler/tool/process/nameless_file.hpp"
#include "vm/external/shell_command.hpp"
#include "vm/record/record_folder.hpp"
#include "vm/value/file_descriptor.hpp"
#include "vm/value/temporaries.hpp"
#include "vm/value/unix_time.hpp"

namespace raddle::sweep {

namespace {

void remember_failure(Attempt& attempt, const vm::ProcessResult& result) {
  using vm::PointOutcome;
  attempt.exit_code = result.exit_code;
  attempt.signal = result.signal;
  attempt.detail = result.start_error;
  if (!result.start_error.empty())
    attempt.outcome = PointOutcome::not_started;
  else if (result.timed_out)
    attempt.outcome = PointOutcome::timeout;
  else if (result.signal != 0)
    attempt.outcome = PointOutcome::signal;
  else if (result.exit_code != 0)
    attempt.outcome = PointOutcome::exit_code;
}

/// Why a program was not started, and what was meant perhaps.
std::string start_fault(const std::string& program, const std::string& error) {
  std::string text = fmt::format("`{}`: {}", program, error);
  const bool is_there = access(program.c_str(), F_OK) == 0;
  if (!is_there && program.find(' ') != std::string::npos)
    text += "; the words of a command stand each by itself, not in one pair of quotes";
  else if (is_there && program.find('/') == std::string::npos)
    text += fmt::format("; the one in this folder is `{}`", vm::shell_line({"./" + program}));
  else if (is_there && access(program.c_str(), X_OK) != 0)
    text += fmt::format("; `chmod +x {}` lets it be run", vm::shell_line({program}));
  return text;
}

/// As exec looks for it. @return 0, or what its error would be
int error_of_start(const std::string& program) {
  const auto error_at = [](const std::string& path) {
    std::error_code ignored;
    if (access(path.c_str(), X_OK) != 0) return errno;
    return std::filesystem::is_directory(path, ignored) ? EACCES : 0;
  };
  if (program.find('/') != std::string::npos) return error_at(program);
  const char* const variable = getenv("PATH");
  int found = ENOENT;
  for (const auto folder : std::views::split(std::string_view(variable != nullptr ? variable : "/bin:/usr/bin"), ':')) {
    const std::string path = folder.empty() ? program : fmt::format("{}/{}", std::string_view(folder), program);
    const int error = error_at(path);
    if (error == 0) return 0;
    if (error == EACCES) found = error;
  }
  return found;
}

}  // namespace

std::string fault_of_program(const CommandTemplate& command) {
  const std::vector<CommandTemplate::Piece>& pieces = command.pieces().front();
  if (std::ranges::any_of(pieces, &CommandTemplate::Piece::is_placeholder)) return "";
  std::string program;
  for (const CommandTemplate::Piece& piece : pieces) program += piece.text;
  const int error = error_of_start(program);
  return error == 0 ? "" : start_fault(program, vm::error_text(error));
}

struct ProgramRunner::Outputs {
  explicit Outputs(unsigned number) : slot(number) {}
  const unsigned slot;  ///< RunPlace::slot
  vm::FileDescriptor out, error;

  // Makes those that are not there. @return 0, or the errno that kept it from that
  int complete() {
    for (vm::FileDescriptor* file : {&out, &error})
      if (!*file && !(*file = tool::open_nameless())) return errno;
    return 0;
  }
};

ProgramRunner::ProgramRunner(const CommandTemplate& command, const std::vector<Collector>& collectors,
                             InputFiles& inputs, unsigned jobs, double timeout_s)
    : command_(command),
      collectors_(collectors),
      inputs_(inputs),
      timeout_s_(timeout_s),
      processes_({.programs = jobs}) {
  processes_.begin();
  for (unsigned i = jobs; i-- > 0;) {
    idle_.push_back(outputs_.emplace_back(std::make_unique<Outputs>(i + 1)).get());
    if (const int error = idle_.back()->complete(); error != 0)
      throw std::system_error(error, std::generic_category(), "a file for the output of a program");
  }
}

ProgramRunner::~ProgramRunner() { processes_.end_all(); }

ProgramRunner::Outputs& ProgramRunner::take_outputs() {
  const std::lock_guard lock(mutex_);
  Outputs* taken = idle_.back();
  idle_.pop_back();
  return *taken;
}

void ProgramRunner::give_back(Outputs& outputs, bool is_still_open) noexcept {
  for (vm::FileDescriptor* file : {&outputs.out, &outputs.error}) {
    if (!is_still_open && (size_of(*file) == 0 || ftruncate(file->get(), 0) == 0)) continue;
    // what is still written there is not the next program's; closed first, which leaves room for another one
    const vm::FileDescriptor closed(std::move(*file));
  }
  outputs.complete();  // else run() tries again
  const std::lock_guard lock(mutex_);
  idle_.push_back(&outputs);
}

std::string ProgramRunner::make_folder(const Point& point, const RunPlace& place) const {
  if (!command_.uses(CommandTemplate::folder)) return "";
  const std::string folder = run_folder(place, point.number);
  std::error_code error;
  std::filesystem::remove_all(folder, error);  // of an earlier attempt
  if (!error) std::filesystem::create_directories(folder, error);
  return error ? fmt::format("the folder `{}` can not be made: {}", folder, error.message()) : "";
}

void ProgramRunner::run(const Point& point, std::uint32_t, std::function<void(Attempt)> done) {
  Outputs& outputs = take_outputs();
  const RunPlace place{outputs.slot, run_};
  vm::ProcessRequest request;
  const int shortage = outputs.complete();
  std::string fault = shortage != 0 ? "no file for its output: " + vm::error_text(shortage) : make_folder(point, place);
  InputFiles::Inputs inputs;
  FilesBefore before;
  if (fault.empty()) {  // else nothing is started
    before = files_before(collectors_, point, place);
    request.words = command_.words_for(point, place);
    inputs = inputs_.at_begin(request.words, point);
  }
  request.timeout_s = timeout_s_;
  request.stdout_fd = outputs.out.get();
  request.stderr_fd = outputs.error.get();
  processes_.spawn(std::move(request),
                   [this, point, place, &outputs, inputs = std::move(inputs), before = std::move(before),
                    fault = std::move(fault), done = std::move(done)](vm::ProcessResult result) {
                     if (!fault.empty())
                       result.start_error = fault;
                     else if (!result.start_error.empty())
                       result.start_error = start_fault(command_.words_for(point, place).front(), result.start_error);
                     Attempt attempt = attempt_of(point, place, result, outputs, before);
                     attempt.inputs = inputs_.at_end(inputs, outputs_of(collectors_, point, place, before));
                     give_back(outputs, result.leaves_others);
                     done(std::move(attempt));
                   });
}

Attempt ProgramRunner::attempt_of(const Point& point, const RunPlace& place, const vm::ProcessResult& result,
                                  Outputs& outputs, const FilesBefore& before) const {
  Attempt attempt;
  attempt.worker = place.slot;
  attempt.started = vm::unix_time() - result.duration_s;
  attempt.duration_s = result.duration_s;
  attempt.stdout_size = vm::size_of(outputs.out);
  attempt.stderr_size = vm::size_of(outputs.error);
  attempt.stdout_end = vm::end_of(outputs.out, attempt.stdout_size, kept_output_bytes);
  attempt.stderr_end = vm::end_of(outputs.error, attempt.stderr_size, kept_output_bytes);
  remember_failure(attempt, result);
  if (attempt.outcome != vm::PointOutcome::ok) return attempt;
  const bool is_whole = attempt.stdout_size <= kept_output_bytes;
  auto results = collect_all(
      collectors_, point, place,
      is_whole ? attempt.stdout_end : vm::end_of(outputs.out, attempt.stdout_size, collected_output_bytes(collectors_)),
      before);
  if (results) {
    attempt.results = std::move(*results);
  } else {
    attempt.outcome = vm::PointOutcome::no_result;
    attempt.detail = results.error();
  }
  return attempt;
}

}  // namespace raddle::sweep
