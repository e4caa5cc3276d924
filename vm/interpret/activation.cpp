// Bodies of frames are run, strands armed and woken, values passed on to other frames.
#include <cstdint>
#include <span>

#include "vm/interpret/deep_wait.hpp"
#include "vm/interpret/forwarder.hpp"
#include "vm/interpret/interpreter.hpp"
#include "vm/interpret/run_state.hpp"
#include "vm/interpret/task_timer.hpp"
#include "vm/schedule/stack_limit.hpp"
#include "vm/value/borrow.hpp"

namespace raddle::vm {

// ---------------------------------------------------------------- entered from tasks and waiters

void Frame::run(Worker& worker) {
  RunWorker& here = run_state.on(worker);
  const TaskTimer timer(here, TaskKind::activation, *this);
  const FollowedRank followed(here, followed_rank);
  here.interpreter().activate_timed(this);
}

void StrandState::run(Worker& worker) {
  RunWorker& here = frame->run_state.on(worker);
  const TaskTimer timer(here, TaskKind::strand, *frame, frame->run_state.program.strands[strand].first_instruction);
  here.interpreter().run_woken(*this);
}

void StrandState::resolved(Worker& worker) { frame->run_state.on(worker).interpreter().resume_awaiting(*this); }

bool Interpreter::may_nest() const {
  if (here_.nesting.activations >= nesting_limit) return false;
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  return here > reinterpret_cast<std::uintptr_t>(stack_limit()) + nesting_reserve_bytes;
}

void Interpreter::activate(Frame* frame) {
  ++here_.nesting.activations;
  while (frame) {
    Frame* next = run_region(*frame, frame->body.region);
    if (next != frame) here_.release(frame);
    frame = next;
  }
  --here_.nesting.activations;
}

void Interpreter::activate_timed(Frame* frame) {
  if (!frame->is_function()) return activate(frame);
  const CallTimer timer(run_.call_profiles[frame->body.function]);
  activate(frame);
}

void Interpreter::run_woken(StrandState& state) {
  Frame* frame = state.frame;
  const FollowedRank followed(here_, state.followed_rank);
  ++here_.nesting.activations;
  Frame* next = run_strand(*frame, program_.strands[state.strand]);
  --here_.nesting.activations;
  if (next != frame) here_.release(frame);
  if (next) activate(next);
}

void Interpreter::resume_awaiting(StrandState& state) {
  const Strand& strand = program_.strands[state.strand];
  if (!await_inputs(*state.frame, strand, &state)) return;
  if (BoundedMemory::get()) announce_inputs(*state.frame, strand);
  state.followed_rank = here_.followed_rank;
  here_.push(state, state.frame->priority);
}

/// The strand is about to be queued: what it reads may come while others run.
void Interpreter::announce_inputs(Frame& frame, const Strand& strand) {
  for (const AwaitedInput& input : std::span(program_.awaited).subspan(strand.first_awaited, strand.awaited_count)) {
    const Future& variable = frame.at(input.variable);
    if (variable.kind() != ValueKind::array || variable.is_failed()) continue;
    if (const Buffer* const numbers = object_in<Array>(variable).find_packed()) numbers->announce();
  }
}

// ---------------------------------------------------------------- waiting

StrandState* Interpreter::arm(Frame& frame, const Strand& strand) {
  frame.retain();
  ++here_.counters.strands_armed;
  const auto id = static_cast<StrandId>(&strand - program_.strands.data());
  return ::new (static_cast<void*>(frame.state(strand.state))) StrandState(frame, id);
}

bool Interpreter::await_inputs(Frame& frame, const Strand& strand, StrandState* state) {
  const bool was_armed = state != nullptr;
  // Enlists the strand; false if the future has just been resolved. Afterwards another worker may run it at once.
  const auto enlist = [&](Future& future, std::uint32_t input) {
    if (!state) state = arm(frame, strand);
    state->next = input;
    state->is_waiting = true;
    return future.enlist(*state);
  };
  const AwaitedInput* inputs = program_.awaited.data() + strand.first_awaited;
  for (std::uint32_t i = was_armed ? state->next : 0; i < strand.awaited_count; ++i) {
    Future& variable = frame.at(inputs[i].variable);
    if (!variable.is_resolved() && enlist(variable, i)) return false;
    if (variable.is_failed()) frame.careful.store(true, std::memory_order_relaxed);
    if (inputs[i].mode == AwaitMode::set || variable.is_failed()) continue;
    if (inputs[i].mode == AwaitMode::named && object_in<File>(variable).has_path()) continue;
    if (Future* closing = closing_of(variable)) {
      if (!closing->is_resolved() && enlist(*closing, i)) return false;
      if (closing->is_failed()) frame.careful.store(true, std::memory_order_relaxed);
    }
    const AwaitMode mode = inputs[i].mode;
    if (mode <= AwaitMode::closed && variable.kind() != ValueKind::structure) continue;
    const Depth depth = depth_of(variable, mode);
    if (depth == Depth::failed) frame.careful.store(true, std::memory_order_relaxed);
    if (depth != Depth::unset) continue;
    if (!state) state = arm(frame, strand);
    state->next = i;
    state->is_waiting = true;
    auto* wait = here_.make<DeepWait>(*state, variable, mode);
    if (wait->advance()) return false;
    here_.destroy(wait);
    if (depth_of(variable, mode) == Depth::failed) frame.careful.store(true, std::memory_order_relaxed);
  }
  if (!state) return true;
  state->is_waiting = false;
  if (!was_armed) here_.release(&frame);  // armed for nothing; the caller has a reference of its own
  return true;
}

void DeepWait::resolved(Worker& worker) {
  StrandState& state = state_;
  if (advance()) return;
  RunWorker& here = state.frame->run_state.on(worker);
  here.destroy(this);
  here.interpreter().resume_awaiting(state);
}

// ---------------------------------------------------------------- passing on

void Interpreter::pass(Future& source, Frame& source_frame, Future& target, Frame& target_frame) {
  if (source.is_resolved()) {
    target.init(source.get());
    return;
  }
  source_frame.retain();
  target_frame.retain();
  auto* forwarder = here_.make<Forwarder>(source, source_frame, target, &target_frame, Value(), no_id, Operand());
  if (source.enlist(*forwarder)) return;
  here_.destroy(forwarder);
  target.init(source.get());
  here_.release(&source_frame);
  here_.release(&target_frame);
}

void Interpreter::pass_later(Future& source, Frame& source_frame, Frame& target_frame, Operand target,
                             std::uint32_t instruction) {
  source_frame.retain();
  target_frame.retain();
  auto* forwarder =
      here_.make<Forwarder>(source, source_frame, target_frame.at(target), &target_frame, Value(), instruction, target);
  if (!source.enlist(*forwarder)) forwarder->resolved(*worker_);
}

void Interpreter::pass_into(Future& source, Frame& source_frame, Future& target, const Value& container,
                            std::uint32_t instruction) {
  if (!source.is_resolved()) {
    source_frame.retain();
    auto* forwarder = here_.make<Forwarder>(source, source_frame, target, nullptr, container, instruction, Operand());
    if (source.enlist(*forwarder)) return;
    here_.destroy(forwarder);
    here_.release(&source_frame);
  }
  if (!here_.set(target, source.get())) here_.field_assigned_twice(source_frame, instruction);
}

void Forwarder::resolved(Worker& worker) {
  RunWorker& here = source_frame.run_state.on(worker);
  if (!variable.is_absent())
    here.set(target, source.get(), *target_frame, instruction, variable);
  else if (!here.set(target, source.get()))
    here.field_assigned_twice(source_frame, instruction);
  Frame* frames[] = {&source_frame, target_frame};
  here.destroy(this);
  for (Frame* frame : frames) here.release(frame);
}

// ---------------------------------------------------------------- regions

void Interpreter::share_writers(Frame& frame, const std::vector<WriterShare>& shares) {
  for (const WriterShare& share : shares) {
    if (share.writers == 0)
      here_.writers().release(frame, share.array);
    else
      here_.writers().add(frame.at(share.array), share.writers - 1);
  }
}

void Interpreter::enter_arm(Frame& frame, const Arm& arm) {
  share_writers(frame, arm.shares);
  if (arm.region != no_id) run_region(frame, arm.region);
}

}  // namespace raddle::vm
