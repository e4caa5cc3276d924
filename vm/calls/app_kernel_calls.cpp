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

/// Slices that were copied for this call are parts of arrays that stay, by which devices know them again.
void ProgramCaller::read_in_whole_arrays(AppKernelCall& call) {
  Frame* const caller = call.frame.outer;
  if (BoundedMemory::get() || caller == nullptr || call.frame.call_site == no_id) return;
  for (std::size_t i = 0; i < call.site.words.size(); ++i) {
    const auto part = run_.device_calls->copied_parts().part(call.frame.call_site, i);
    if (!part || &caller->body != &program_.bodies[part->body]) continue;
    const Future& whole = caller->at(part->array);
    if (!whole.is_resolved() || whole.is_failed() || !object_in<Array>(whole).is_closed()) continue;
    Array& array = object_in<Array>(whole);
    Buffer* const numbers = array.packed_numbers();
    const std::int64_t first = caller->at(part->offset).get().as_int();
    const Buffer* const copy = object_in<Array>(call.frame.at(call.site.words[i])).packed_numbers();
    if (!numbers || !copy || numbers->kind() != copy->kind() || first < 0 ||
        static_cast<std::size_t>(first) + copy->count() > numbers->count())
      continue;
    for (std::size_t k = 0; k < call.arguments.read().size(); ++k)
      if (call.arguments.read()[k].buffer == copy)
        call.arguments.read_in(k, {.buffer = numbers, .array = array.place()},
                               static_cast<std::size_t>(first) * Buffer::size_of(numbers->kind()));
  }
}

/// @return false: its arguments can not be, which a worker is to say
bool ProgramCaller::submit(AppKernelCall& call) {
  std::vector<Value> inputs;
  for (const Operand input : call.site.words) inputs.push_back(call.frame.at(input).get());
  if (!call.arguments.set(program_.foreigns[call.site.foreign], CArguments::Way::fills, inputs).empty()) return false;
  read_in_whole_arrays(call);
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
