// Calls of AppKernels that devices make. What a device can not do, or does not end well there, a worker does once more,
// with all words of the message.
#include <span>
#include <utility>
#include <vector>

#include "vm/calls/app_kernel_call.hpp"
#include "vm/calls/program_caller.hpp"
#include "vm/interpret/run_state.hpp"
#include "vm/interpret/task_timer.hpp"
#include "vm/value/borrow.hpp"

namespace raddle::vm {

bool ProgramCaller::goes_to_device(std::uint32_t foreign) {
  return run_.device_calls && run_.device_calls->may_go(foreign);
}

void ProgramCaller::begin_app_kernel_call(Frame& frame, const Instruction& in) {
  frame.retain();
  run_.throttle.begin(Throttle::light_weight);
  go_on(*here_.make<AppKernelCall>(frame, program_.apps[in.d], here_.index_of(in)));
}

void AppKernelCall::run(Worker& worker) {
  RunWorker& here = frame.run_state.on(worker);
  const TaskTimer timer(here, TaskKind::ending, frame, instruction);
  here.programs().go_on(*this);
}

void ProgramCaller::go_on(AppKernelCall& call) {
  DeviceCalls& devices = *run_.device_calls;
  for (auto way = DeviceCalls::Way::later; !call.is_submitted && way == DeviceCalls::Way::later;) {
    way = devices.way_of_call(call.site.foreign);
    if (way == DeviceCalls::Way::later && devices.wait(call.site.foreign, call)) return;
    if (way == DeviceCalls::Way::there && submit(call)) return;
  }
  Frame& frame = call.frame;
  if (call.outcome.made == 1) {
    log_device(frame, call.instruction, call.outcome);
    std::vector<Value> outputs(call.site.outputs.size());
    call.arguments.take_outputs(program_.foreigns[call.site.foreign], outputs);
    set_foreign_outputs(frame, program_.instructions[call.instruction], outputs);
  } else {
    call.arguments.drop();
    run_foreign_here(frame, program_.instructions[call.instruction]);
  }
  here_.destroy(&call);
  here_.release(&frame);
  run_.throttle.end(1, Throttle::light_weight);
}

/// @return false: its arguments can not be, which a worker is to say
bool ProgramCaller::submit(AppKernelCall& call) {
  std::vector<Value> inputs;
  for (const Operand input : call.site.words) inputs.push_back(call.frame.at(input).get());
  if (!call.arguments.set(program_.foreigns[call.site.foreign], CArguments::Way::fills, inputs).empty()) return false;
  call.is_submitted = true;
  DeviceCall given;
  given.words = call.arguments.words();
  given.read = call.arguments.read();
  given.filled = call.arguments.filled();
  given.priority = call.frame.priority;
  run_.device_calls->submit(call.site.foreign, std::move(given), call.outcome, call);
  return true;
}

}  // namespace raddle::vm
