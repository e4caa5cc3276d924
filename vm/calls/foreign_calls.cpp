// Functions of shared libraries, AppKernels.
#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "vm/calls/program_caller.hpp"
#include "vm/interpret/interpreter.hpp"
#include "vm/interpret/run_state.hpp"
#include "vm/interpret/task_timer.hpp"
#include "vm/value/borrow.hpp"

namespace raddle::vm {

bool ProgramCaller::run_foreign(Frame& frame, const Instruction& in) {
  const std::uint32_t foreign = program_.apps[in.d].foreign;
  if (goes_to_device(foreign)) {
    begin_app_kernel_call(frame, in);
    return true;
  }
  return is_served(program_.foreigns[foreign].kind) ? begin_served_call(frame, in) : run_foreign_here(frame, in);
}

bool ProgramCaller::run_foreign_here(Frame& frame, const Instruction& in) {
  const AppSite& site = program_.apps[in.d];
  std::vector<Value> inputs;
  for (const Operand input : site.words) inputs.push_back(frame.at(input).get());
  if (run_.options.before_program) run_.options.before_program();  // it may print
  run_.note_program();
  std::vector<Value> outputs(site.outputs.size());
  if (std::string problem = call_on_worker(site.foreign, inputs, outputs); !problem.empty()) {
    fail_program(frame, site, here_.failure_at(frame, here_.index_of(in), std::move(problem)));
    return false;
  }
  set_foreign_outputs(frame, in, outputs);
  return true;
}

void ProgramCaller::set_foreign_outputs(Frame& frame, const Instruction& in, std::span<Value> outputs) {
  const AppSite& site = program_.apps[in.d];
  for (std::size_t i = 0; i < outputs.size(); ++i)
    here_.set(frame.at(site.outputs[i]), std::move(outputs[i]), frame, here_.index_of(in), site.outputs[i]);
  for (const Operand output : site.file_outputs) {
    File& file = object_in<File>(frame.at(output));
    if (!here_.set(file.complete(), Value::of_void())) here_.assigned_twice(frame, here_.index_of(in), file.path());
  }
}

/// Devices are told how long it takes.
std::string ProgramCaller::call_on_worker(std::uint32_t foreign, std::span<const Value> inputs,
                                          std::span<Value> outputs) {
  here_.counters.app_kernel_calls += program_.foreigns[foreign].kind == ForeignKind::app_kernel ? 1 : 0;
  if (!run_.device_calls) return run_.foreigns[foreign]->call(inputs, outputs);
  const std::int64_t start_ns = now_ns();
  std::string problem = run_.foreigns[foreign]->call(inputs, outputs);
  run_.device_calls->note(foreign, now_ns() - start_ns);
  return problem;
}

/// Functions of numbers and strings need no frame of their own if these are there.
/// @return false: it is to be called as composite functions are
bool ProgramCaller::call_foreign(Frame& frame, const CallSite& site, std::uint32_t instruction) {
  const Function& function = program_.functions[site.function];
  const std::uint32_t foreign = function.foreign;
  if (foreign == no_id || is_served(program_.foreigns[foreign].kind)) return false;
  const auto is_there = [&](Operand argument) {
    const Future& future = frame.at(argument);
    return future.is_resolved() && future.kind() <= ValueKind::string;
  };
  if (!std::ranges::all_of(site.arguments, is_there)) return false;
  const CallWay way = here_.interpreter().way_of_call(site.function);
  if (way == CallWay::queued || worker_->perturbation().one_in(4) || goes_to_device(foreign)) return false;
  arguments_.clear();
  for (const Operand argument : site.arguments) arguments_.push_back(frame.at(argument).get());
  if (run_.options.before_program) run_.options.before_program();  // it may print
  run_.note_program();
  std::optional<CallTimer> timer;
  if (way == CallWay::timed) timer.emplace(run_.call_profiles[site.function]);
  Value output;
  std::vector<Value> several;
  if (site.results.size() > 1) several.resize(site.results.size());
  const std::span<Value> outputs = several.empty() ? std::span(&output, site.results.size()) : several;
  std::string problem = call_on_worker(foreign, arguments_, outputs);
  timer.reset();
  arguments_.clear();
  if (!problem.empty()) {
    std::vector<Place> calls;
    if (const Place call = program_.places[instruction]; call.end != 0) calls.push_back(call);
    Frame& around = here_.interpreter().frame_around(frame, site);
    here_.fail_all(frame, site.results, here_.failure_at(around, function.place, std::move(problem), std::move(calls)));
    return true;
  }
  for (std::size_t i = 0; i < site.results.size(); ++i)
    here_.set(frame.at(site.results[i]), std::move(outputs[i]), frame, instruction, site.results[i]);
  return true;
}

}  // namespace raddle::vm
