// Calls of functions in Python, R and Tcl: made by processes of their own (ServerExchange has what is said to these),
// while the worker goes on with other work.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "vm/calls/program_caller.hpp"
#include "vm/calls/served_call.hpp"
#include "vm/foreign/served_function.hpp"
#include "vm/foreign/tcl_exchange.hpp"
#include "vm/foreign/tcl_server.hpp"
#include "vm/interpret/run_state.hpp"
#include "vm/interpret/task_timer.hpp"
#include "vm/value/file.hpp"
#include "vm/value/whole_file.hpp"

namespace raddle::vm {

namespace {

using ServedOutcome = std::expected<std::vector<Value>, ServerExchange::Problem>;

/// Whether the code names the output. Of procedures nobody knows: they get a number for it.
bool is_told_of(const ForeignFunction& function, std::size_t file_output) {
  return function.kind != ForeignKind::tcl_template ||
         function.code.find(fmt::format("<<{}>>", function.files[file_output].name)) != std::string::npos;
}

/// Of a call that has failed, also in the places of outputs that it writes there.
void remove_what_was_begun(ServedCall& call) {
  call.own.clear();
  for (const auto& [path, identity] : call.before)
    if (identity != identity_of(path)) remove_files({path});
}

ServedOutcome outcome_of(const ServerAnswer& answer, const ForeignFunction& function, ServerExchange& exchange) {
  using Problem = ServerExchange::Problem;
  const ServedLanguage* const language = served_language(function.kind);
  switch (answer.status) {
    case ServerStatus::answered: return exchange.finish(answer.bytes);
    case ServerStatus::not_started:
      return std::unexpected(
          Problem{language ? fmt::format("{}; is {} installed?", answer.error, language->package) : answer.error});
    case ServerStatus::ended: break;
  }
  if (language) return std::unexpected(Problem{fmt::format("{}: {}", language->program, answer.error)});
  return std::unexpected(
      Problem{fmt::format("`{}` has ended the process of its rank: {}", function.name, answer.error)});
}

const std::vector<std::string>& command_for(ForeignKind kind, const RunOptions& options) {
  return kind == ForeignKind::r ? options.r_command : options.python_command;
}

}  // namespace

ServerPool& ProgramCaller::servers_for(const ForeignFunction& function) const {
  if (const ServedLanguage* const language = served_language(function.kind))
    return run_.outside.servers(language->pool, command_for(function.kind, run_.options),
                                language->shares_memory ? SharedBlocks::descriptor() : -1);
  return run_.outside.servers("@tcl", {"/proc/self/exe", tcl_server_word, std::to_string(run_.pool.capacity())});
}

/// The file as the function gets it: what it is told of it writes aside, see Note [outputs aside].
Value ProgramCaller::output_for(ServedCall& call, Operand output) {
  Frame& frame = call.frame;
  const AppSite& site = program_.apps[program_.instructions[call.instruction].d];
  const Value value = frame.at(output).get();
  File& file = value.as_file();
  if (std::ranges::find(site.url_outputs, output) != site.url_outputs.end()) return value;
  make_folder_of(file.path());
  if (file.is_mapped()) call.before.emplace_back(file.path(), identity_of(file.path()));
  const auto index = static_cast<std::size_t>(std::ranges::find(site.file_outputs, output) - site.file_outputs.begin());
  if (!file.is_mapped() || !is_told_of(program_.foreigns[site.foreign], index) || !call.own.add(file.path()))
    return value;
  run_.written_files.write_aside(call.begun, file.path());
  return File::existing(call.own.now(file.path()));
}

/// @return the text of an error, or ""
std::string ProgramCaller::place_outputs(ServedCall& call) {
  if (std::string problem = call.own.place(); !problem.empty()) return problem;
  const AppSite& site = program_.apps[program_.instructions[call.instruction].d];
  for (const Operand output : site.file_outputs) {
    File& file = object_in<File>(call.frame.at(output));
    if (std::ranges::find(site.url_outputs, output) != site.url_outputs.end()) continue;
    std::error_code unknown;
    if (!std::filesystem::exists(file.path(), unknown)) {
      const std::string& name = call.frame.body.variables[output.index()].name;
      return file.is_mapped() ? fmt::format("`{}` did not make its output file `{}`", site.label, file.path())
                              : fmt::format("`{}` did not make its output `{}`", site.label, name);
    }
    if (run_.options.call_record) file.set_written(call.own.identity(file.path()));
  }
  return {};
}

bool ProgramCaller::begin_served_call(Frame& frame, const Instruction& in) {
  const AppSite& site = program_.apps[in.d];
  const ForeignFunction& function = program_.foreigns[site.foreign];
  auto* call = here_.make<ServedCall>(frame, here_.index_of(in));
  if (const Value failure = begin_outputs(frame, in, WrittenFiles::How::by_program, call->begun)) {
    fail_program(frame, site, failure);
    here_.destroy(call);
    return false;
  }
  std::vector<Value> inputs;
  for (const Operand output : site.file_outputs) inputs.push_back(output_for(*call, output));
  for (const Operand input : site.words) inputs.push_back(frame.at(input).get());
  std::shared_ptr<ServerExchange> exchange;
  const ServedLanguage* const language = served_language(function.kind);
  if (language)
    exchange = std::make_shared<FunctionExchange>(function, *language);
  else
    exchange = std::make_shared<TclExchange>(function, run_.tcl_host);
  std::expected<std::string, std::string> request = exchange->request(inputs);
  if (request && language && command_for(function.kind, run_.options).empty())
    request = std::unexpected(fmt::format("functions in {} can not be called here", language->name));
  if (!request) {
    run_.written_files.end(call->begun);
    fail_served_call(frame, here_.index_of(in), {std::move(request.error())});
    here_.destroy(call);
    return false;
  }
  if (run_.options.before_program) run_.options.before_program();  // it may print
  run_.note_program();
  frame.retain();
  run_.pool.hold();
  run_.throttle.begin();
  const auto done = [call, exchange, &function, &pool = run_.pool](const ServerAnswer& answer) {
    call->outcome = outcome_of(answer, function, *exchange);
    if (function.kind == ForeignKind::tcl_template || function.kind == ForeignKind::tcl_procedure)
      call->rank = answer.rank;
    pool.inject(*call);
    pool.release_hold();
  };
  // What a function in Python or R has kept in a process is not what a script may build on: it goes where it is wanted,
  // else anywhere. What Tcl keeps is the rank's.
  const RankWish wish = language ? frame.rank : here_.rank_wish(frame, {});
  servers_for(function).ask(std::move(*request), wish, done,
                            [exchange](const std::string& answer) { return exchange->go_on(answer); });
  return true;
}

void ServedCall::run(Worker& worker) {
  RunWorker& here = frame.run_state.on(worker);
  const TaskTimer timer(here, TaskKind::ending, frame, instruction);
  here.programs().finish_served_call(this);
}

void ProgramCaller::finish_served_call(ServedCall* ended) {
  Frame& frame = ended->frame;
  const FollowedRank followed(here_, ended->rank == RankWish::any ? here_.followed_rank : ended->rank);
  if (ended->outcome)
    if (std::string problem = place_outputs(*ended); !problem.empty())
      ended->outcome = std::unexpected(ServerExchange::Problem{std::move(problem)});
  if (!ended->outcome) remove_what_was_begun(*ended);
  run_.written_files.end(ended->begun);
  if (ended->outcome)
    set_foreign_outputs(frame, program_.instructions[ended->instruction], *ended->outcome);
  else
    fail_served_call(frame, ended->instruction, std::move(ended->outcome.error()));
  here_.destroy(ended);
  here_.release(&frame);
  run_.throttle.end(1);
}

void ProgramCaller::fail_served_call(Frame& frame, std::uint32_t instruction, ServerExchange::Problem problem) {
  const AppSite& site = program_.apps[program_.instructions[instruction].d];
  std::string text = std::move(problem.message);
  if (served_language(program_.foreigns[site.foreign].kind)) text = fmt::format("`{}`: {}", site.label, text);
  fail_program(frame, site, here_.failure_at(frame, instruction, std::move(text), std::move(problem.notes)));
}

}  // namespace raddle::vm
