// Calls of functions in Python: made by processes of their own (PythonExchange has what is said to these), while the
// worker goes on with other work.
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "vm/calls/program_caller.hpp"
#include "vm/calls/python_call.hpp"
#include "vm/interpret/run_state.hpp"
#include "vm/interpret/task_timer.hpp"

namespace raddle::vm {

namespace {

using PythonOutcome = std::expected<std::vector<Value>, PythonExchange::Problem>;

PythonOutcome outcome_of(const ServerAnswer& answer, PythonExchange& exchange) {
  using Problem = PythonExchange::Problem;
  switch (answer.status) {
    case ServerStatus::answered: return exchange.finish(answer.bytes);
    case ServerStatus::not_started:
      return std::unexpected(Problem{fmt::format("{}; is Python 3 installed?", answer.error)});
    case ServerStatus::ended: break;
  }
  return std::unexpected(Problem{"python3: " + answer.error});
}

}  // namespace

bool ProgramCaller::begin_python_call(Frame& frame, const Instruction& in) {
  const AppSite& site = program_.apps[in.d];
  std::vector<Value> inputs;
  for (const Operand input : site.words) inputs.push_back(frame.at(input).get());
  auto exchange = std::make_shared<PythonExchange>(program_.foreigns[site.foreign]);
  std::expected<std::string, std::string> request = exchange->request(inputs);
  if (request && run_.options.python_command.empty())
    request = std::unexpected("functions in Python can not be called here");
  if (!request) {
    fail_python_call(frame, here_.index_of(in), {std::move(request.error())});
    return false;
  }
  if (run_.options.before_program) run_.options.before_program();  // it may print
  run_.note_program();
  frame.retain();
  auto* call = here_.make<PythonCall>(frame, here_.index_of(in));
  run_.pool.hold();
  run_.throttle.begin();
  const auto done = [call, exchange, &pool = run_.pool](const ServerAnswer& answer) {
    call->outcome = outcome_of(answer, *exchange);
    pool.inject(*call);
    pool.release_hold();
  };
  // what a function has kept in a process is not what a script may build on: it goes where it is wanted, else anywhere
  run_.outside.servers("@python", run_.options.python_command, SharedBlocks::descriptor())
      .ask(std::move(*request), frame.rank, done,
           [exchange](const std::string& answer) { return exchange->go_on(answer); });
  return true;
}

void PythonCall::run(Worker& worker) {
  RunWorker& here = frame.run_state.on(worker);
  const TaskTimer timer(here, TaskKind::ending, frame, instruction);
  here.programs().finish_python_call(this);
}

void ProgramCaller::finish_python_call(PythonCall* ended) {
  Frame& frame = ended->frame;
  if (ended->outcome)
    set_foreign_outputs(frame, program_.instructions[ended->instruction], *ended->outcome);
  else
    fail_python_call(frame, ended->instruction, std::move(ended->outcome.error()));
  here_.destroy(ended);
  here_.release(&frame);
  run_.throttle.end(1);
}

void ProgramCaller::fail_python_call(Frame& frame, std::uint32_t instruction, PythonExchange::Problem problem) {
  const AppSite& site = program_.apps[program_.instructions[instruction].d];
  const std::string text = fmt::format("`{}`: {}", site.label, problem.message);
  fail_program(frame, site, here_.failure_at(frame, instruction, text, std::move(problem.notes)));
}

}  // namespace raddle::vm
