// Calls wait for the arrays that they read, then for their turn: Note [placed calls].
#include "vm/interpret/placed_call.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "vm/interpret/interpreter.hpp"
#include "vm/interpret/run_state.hpp"
#include "vm/interpret/task_timer.hpp"
#include "vm/value/borrow.hpp"

namespace raddle::vm {

/// @return false: the call is to be made at once
bool Interpreter::place_call(Frame& frame, const CallSite& site, std::uint32_t instruction) {
  if (frame.placed != no_id || frame.interpret_only || !run_.machine.placed_calls->takes(site)) return false;
  frame.retain();
  here_.make<PlacedCall>(frame, site, instruction, run_.machine.placed_calls->order_of_call(frame))->begin(here_);
  return true;
}

void PlacedCall::begin(RunWorker& here) {
  awaits_input = true;
  for (const std::uint32_t index : site.number_arrays) {
    auto* const argument = here.make<PlacedArgument>(*this, frame.at(site.arguments[index]));
    missing_.fetch_add(1, std::memory_order_relaxed);
    argument->resolved(here.worker());
  }
  one_is_there(here, nullptr);
}

Future* PlacedArgument::missing() const {
  if (!argument_.is_resolved()) return &argument_;
  if (argument_.is_failed()) return nullptr;
  Array& array = object_in<Array>(argument_);
  return array.is_closed() ? nullptr : &array.closed();
}

const Array* PlacedArgument::array() const { return argument_.is_failed() ? nullptr : &object_in<Array>(argument_); }

void PlacedArgument::resolved(Worker& worker) {
  while (Future* const awaited = missing())
    if (awaited->enlist(*this)) return;
  PlacedCall& call = call_;
  const Array* const read = array();
  RunWorker& here = call.frame.run_state.on(worker);
  here.destroy(this);
  call.one_is_there(here, read);
}

void PlacedCall::one_is_there(RunWorker& here, const Array* array) {
  const Buffer* const numbers = array ? array->find_packed() : nullptr;
  BoundedMemory::Block* const block = numbers ? numbers->block() : nullptr;
  if (block) here.run().machine.placed_calls->expect(*block, array->place(), reads_, order_);
  if (missing_.fetch_sub(1, std::memory_order_acq_rel) == 1) resolved(here.worker());
}

void PlacedCall::resolved(Worker& worker) {
  RunWorker& here = frame.run_state.on(worker);
  PlacedCalls& calls = *here.run().machine.placed_calls;
  awaits_input = false;
  if (is_replaced) {
    calls.forget(reads_, order_);
    Frame* const caller = &frame;
    here.destroy(this);
    return here.release(caller);
  }
  if (reads_.empty() && !site.makes_dense) return here.push(*this, frame.priority);
  here.interpreter().release_placed(frame, instruction, order_, reads_);
  here.destroy(this);
}

void Interpreter::release_placed(Frame& frame, std::uint32_t instruction, std::uint64_t order,
                                 const std::vector<BoundedMemory::Block*>& reads) {
  PlacedCalls& calls = *run_.machine.placed_calls;
  const CallSite& site = program_.calls[program_.instructions[instruction].d];
  const std::int32_t priority = site.priority.is_absent() ? frame.priority : priority_of(frame, site.priority);
  calls.release({.frame = &frame, .instruction = instruction, .priority = priority, .order = order}, reads);
  run_.throttle.begin();
  here_.push(*here_.make<PlacedTurn>(calls), std::numeric_limits<std::int32_t>::min());
}

DeferredCall* PlacedCall::replacement(CellCache& cache) {
  frame.retain();
  return ::new (cache.allocate(sizeof(PlacedCall))) PlacedCall(frame, site, instruction, order_);
}

/// It reads nothing that may go, or is to be made before its arrays are there.
void PlacedCall::run(Worker& worker) {
  RunWorker& here = frame.run_state.on(worker);
  const TaskTimer timer(here, TaskKind::strand, frame, instruction);
  here.interpreter().call_now(frame, site, instruction);
  Frame* const caller = &frame;
  here.destroy(this);
  here.release(caller);
}

void PlacedTurn::run(Worker& worker) {
  const PlacedCalls::Taken taken = calls_.take(worker.index());
  RunWorker& here = taken.call.frame->run_state.on(worker);
  here.destroy(this);
  const TaskTimer timer(here, TaskKind::strand, *taken.call.frame, taken.call.instruction);
  here.interpreter().run_placed(taken);
}

void Interpreter::run_placed(const PlacedCalls::Taken& taken) {
  Frame& frame = *taken.call.frame;
  run_.throttle.end(1);
  placing_ = taken.id;
  ++here_.nesting.iterations;  // what is made here is shared out already
  call_now(frame, program_.calls[program_.instructions[taken.call.instruction].d], taken.call.instruction);
  --here_.nesting.iterations;
  if (std::exchange(placing_, no_id) != no_id) run_.machine.placed_calls->finish(here_, taken.id);
}

}  // namespace raddle::vm
