// Frames are made, strands armed and woken, writers of arrays handed to the regions that write.
#include <cstdint>

#include "vm/interpret/borrow.hpp"
#include "vm/interpret/deep_wait.hpp"
#include "vm/interpret/forwarder.hpp"
#include "vm/interpret/interpreter.hpp"
#include "vm/interpret/task_timer.hpp"
#include "vm/schedule/stack_limit.hpp"

namespace raddle::vm {

// ---------------------------------------------------------------- entered from tasks and waiters

void Frame::run(Worker& worker) {
  Interpreter& interpreter = run_state.interpreter(worker).on(worker);
  const TaskTimer timer(interpreter, TaskKind::activation, *this);
  interpreter.activate_timed(this);
}

void StrandState::run(Worker& worker) {
  Interpreter& interpreter = frame->run_state.interpreter(worker).on(worker);
  const TaskTimer timer(interpreter, TaskKind::strand, *frame,
                        frame->run_state.program.strands[strand].first_instruction);
  interpreter.run_woken(*this);
}

void StrandState::resolved(Worker& worker) { frame->run_state.interpreter(worker).on(worker).resume_awaiting(*this); }

bool Interpreter::may_nest() const {
  if (nesting_ >= nesting_limit) return false;
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  return here > reinterpret_cast<std::uintptr_t>(stack_limit()) + nesting_reserve_bytes;
}

void Interpreter::activate(Frame* frame) {
  ++nesting_;
  while (frame) {
    Frame* next = run_region(*frame, frame->body.region);
    if (next != frame) release(frame);
    frame = next;
  }
  --nesting_;
}

void Interpreter::activate_timed(Frame* frame) {
  if (!frame->is_function()) return activate(frame);
  const CallTimer timer(run_.call_profiles[frame->body.function]);
  activate(frame);
}

void Interpreter::run_woken(StrandState& state) {
  Frame* frame = state.frame;
  ++nesting_;
  Frame* next = run_strand(*frame, program_.strands[state.strand]);
  --nesting_;
  if (next != frame) release(frame);
  if (next) activate(next);
}

void Interpreter::resume_awaiting(StrandState& state) {
  if (await_inputs(*state.frame, program_.strands[state.strand], &state)) push(state, state.frame->priority);
}

// ---------------------------------------------------------------- frames

Frame* Interpreter::make_frame(BodyId body_id, Frame* outer, std::uint64_t stream) {
  const Body& body = program_.bodies[body_id];
  if (outer) outer->retain();
  ++counters.frames;
  return ::new (cache_.allocate(Frame::size_of(body))) Frame(run_, body, outer, stream);
}

void Interpreter::release(Frame* frame) {
  while (frame && frame->drop()) {  // a loop: chains of callers may be long
    Frame* outer = frame->outer;
    const std::size_t size_bytes = Frame::size_of(frame->body);
    if (frame->window)
      if (Task* loop = frame->window->close()) push(*loop, frame->priority);
    frame->~Frame();
    cache_.deallocate(frame, size_bytes);
    frame = outer;
  }
}

// ---------------------------------------------------------------- waiting

StrandState* Interpreter::arm(Frame& frame, const Strand& strand) {
  frame.retain();
  ++counters.strands_armed;
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
    auto* wait = make<DeepWait>(*state, variable, mode);
    if (wait->advance()) return false;
    destroy(wait);
    if (depth_of(variable, mode) == Depth::failed) frame.careful.store(true, std::memory_order_relaxed);
  }
  if (!state) return true;
  state->is_waiting = false;
  if (!was_armed) release(&frame);  // armed for nothing; the caller has a reference of its own
  return true;
}

void DeepWait::resolved(Worker& worker) {
  StrandState& state = state_;
  if (advance()) return;
  Interpreter& interpreter = state.frame->run_state.interpreter(worker).on(worker);
  interpreter.destroy(this);
  interpreter.resume_awaiting(state);
}

// ---------------------------------------------------------------- waking and passing on

void Interpreter::wake() {
  if (is_waking_) return;  // the loop further out sees what was added
  is_waking_ = true;
  if (is_perturbed_) {
    Perturbation& perturbation = worker_->perturbation();
    perturbation.pause();
    wakes_.shuffle([&perturbation] { return perturbation.next(); });
  }
  wakes_.wake_all(*worker_);
  is_waking_ = false;
}

bool Interpreter::set(Future& future, Value value) {
  if (!future.set(std::move(value), wakes_)) return false;
  if (!wakes_.empty()) wake();
  return true;
}

bool Interpreter::insert(Array& array, const Value& key, Value value) {
  if (!array.insert(key, std::move(value), wakes_)) return false;
  if (!wakes_.empty()) wake();
  return true;
}

void Interpreter::set(Future& future, Value value, Frame& frame, std::uint32_t instruction, Operand variable) {
  if (set(future, std::move(value))) return;
  const VariableInfo* info = find_variable(program_, body_of(frame), variable);
  assigned_twice(frame, instruction, info ? info->name : "");
}

void Interpreter::pass(Future& source, Frame& source_frame, Future& target, Frame& target_frame) {
  if (source.is_resolved()) {
    target.init(source.get());
    return;
  }
  source_frame.retain();
  target_frame.retain();
  auto* forwarder = make<Forwarder>(source, source_frame, target, &target_frame, Value(), no_id, Operand());
  if (source.enlist(*forwarder)) return;
  destroy(forwarder);
  target.init(source.get());
  release(&source_frame);
  release(&target_frame);
}

void Interpreter::pass_later(Future& source, Frame& source_frame, Frame& target_frame, Operand target,
                             std::uint32_t instruction) {
  source_frame.retain();
  target_frame.retain();
  auto* forwarder =
      make<Forwarder>(source, source_frame, target_frame.at(target), &target_frame, Value(), instruction, target);
  if (!source.enlist(*forwarder)) forwarder->resolved(*worker_);
}

void Interpreter::pass_into(Future& source, Frame& source_frame, Future& target, const Value& container,
                            std::uint32_t instruction) {
  if (!source.is_resolved()) {
    source_frame.retain();
    auto* forwarder = make<Forwarder>(source, source_frame, target, nullptr, container, instruction, Operand());
    if (source.enlist(*forwarder)) return;
    destroy(forwarder);
    release(&source_frame);
  }
  if (!set(target, source.get())) field_assigned_twice(source_frame, instruction);
}

void Forwarder::resolved(Worker& worker) {
  Interpreter& interpreter = source_frame.run_state.interpreter(worker).on(worker);
  if (!variable.is_absent())
    interpreter.set(target, source.get(), *target_frame, instruction, variable);
  else if (!interpreter.set(target, source.get()))
    interpreter.field_assigned_twice(source_frame, instruction);
  Frame* frames[] = {&source_frame, target_frame};
  interpreter.destroy(this);
  for (Frame* frame : frames) interpreter.release(frame);
}

// ---------------------------------------------------------------- writers

void Interpreter::add_writers(Future& array, std::uint32_t count) {
  if (count == 0 || array.is_failed()) return;
  const auto added = static_cast<std::int32_t>(count);
  if (array.kind() == ValueKind::array)
    object_in<Array>(array).add_writers(added);
  else
    object_in<Bag>(array).add_writers(added);
}

void Interpreter::release_writers(Future& array, std::uint32_t count) {
  if (count == 0 || array.is_failed()) return;
  const auto released = static_cast<std::int32_t>(count);
  // closing may resolve what keeps the array's frame alive: the object must outlast the call
  const Value keep = array.get();
  if (array.kind() == ValueKind::array)
    keep.as_array().release_writers(released, wakes_);
  else
    keep.as_bag().release_writers(released, wakes_);
  if (!wakes_.empty()) wake();
}

void Interpreter::release_writer(Frame& frame, Operand array) {
  Future& released = frame.at(array);
  for (std::size_t i = own_releases_; i < releases_.size(); ++i) {
    if (releases_[i].array == &released) {
      ++releases_[i].count;
      return;
    }
  }
  release_writers(released, 1);
}

/// The writers of `count` iterations. Which of them these release is counted until close_writers().
/// @return what close_writers() is to be given
std::size_t Interpreter::open_writers(const RangeTask& piece, std::int64_t count) {
  const std::size_t outer = std::exchange(own_releases_, releases_.size());
  for (const WriterShare& share : piece.site.shares) {
    Future& array = piece.frame.at(share.array);
    add_writers(array, share.writers * static_cast<std::uint32_t>(count));
    releases_.push_back({&array, 0});
  }
  return outer;
}

void Interpreter::close_writers(std::size_t outer) {
  const std::size_t own = std::exchange(own_releases_, releases_.size());  // what is woken here finds none of them
  for (std::size_t i = own; i < releases_.size(); ++i) release_writers(*releases_[i].array, releases_[i].count);
  releases_.resize(own);
  own_releases_ = outer;
}

void Interpreter::drop_writers(Frame& frame, const std::vector<Operand>& arrays) {
  for (const Operand array : arrays) release_writer(frame, array);
}

void Interpreter::add_writers(Frame& frame, const std::vector<WriterShare>& shares) {
  for (const WriterShare& share : shares) add_writers(frame.at(share.array), share.writers);
}

void Interpreter::enter_arm(Frame& frame, const Arm& arm) {
  // the instruction's one writer becomes as many as the region has
  for (const WriterShare& share : arm.shares) {
    if (share.writers == 0)
      release_writer(frame, share.array);
    else
      add_writers(frame.at(share.array), share.writers - 1);
  }
  if (arm.region != no_id) run_region(frame, arm.region);
}

}  // namespace raddle::vm
