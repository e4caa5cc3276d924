#include "vm/interpret/run_worker.hpp"

#include <fmt/format.h>

#include "vm/calls/memo_caller.hpp"
#include "vm/calls/program_caller.hpp"
#include "vm/interpret/assigned_places.hpp"
#include "vm/interpret/failed_iterations.hpp"
#include "vm/interpret/interpreter.hpp"
#include "vm/interpret/kernel_caller.hpp"
#include "vm/interpret/loop_runner.hpp"
#include "vm/interpret/run_state.hpp"
#include "vm/math/random.hpp"
#include "vm/program/written_place.hpp"
#include "vm/launch/launcher.hpp"
#include "vm/value/borrow.hpp"

namespace raddle::vm {

namespace {

/// The value that the entry's loop has in the iteration that the frame belongs to.
std::optional<std::int64_t> entry_iteration(const Frame& frame) {
  const Frame* each = &frame;
  while (each->outer != nullptr && each->outer->outer != nullptr) each = each->outer;
  if (each->outer == nullptr || each->is_function()) return std::nullopt;
  const Future& value = each->slots()[0];
  if (!value.is_resolved() || value.kind() != ValueKind::int_) return std::nullopt;
  return value.get().as_int();
}

Ref<Failure> make_failure(CallPlace at, std::string message, FailureNotes notes) {
  Ref<Failure> failure = make_ref<Failure>(std::move(message), at.place);
  failure->calls = std::move(at.calls);
  failure->notes = std::move(notes);
  return failure;
}

/// The nearest; null: a failure is one of the run.
Frame* attempt_around(Frame& frame) {
  Frame* each = &frame;
  while (each != nullptr && !each->is_attempt) each = each->outer;
  return each;
}

}  // namespace

RunWorker::RunWorker(Run& run, Worker& worker, CellCache& cache)
    : run_(run),
      program_(run.program),
      worker_(worker),
      cells_(cache),
      writers_(*this),
      interpreter_(std::make_unique<Interpreter>(*this)),
      kernels_(std::make_unique<KernelCaller>(*this)),
      launcher_(std::make_unique<Launcher>(*this)),
      loops_(std::make_unique<LoopRunner>(*this)),
      programs_(std::make_unique<ProgramCaller>(*this)),
      memos_(std::make_unique<MemoCaller>(*this)) {}
RunWorker::~RunWorker() = default;

// ---------------------------------------------------------------- futures

void RunWorker::set(Future& future, Value value, Frame& frame, std::uint32_t instruction, Operand variable) {
  if (set(future, std::move(value))) return;
  const VariableInfo* info = variable_of(frame, variable);
  assigned_twice(frame, instruction, info ? info->name : "");
}

void RunWorker::put_shared(Frame& frame, const Instruction& in, Value value) {
  if (in.a.is_absent()) return;
  set(frame.at(in.a), std::move(value), frame, index_of(in), in.a);
}

void RunWorker::wake_all() {
  if (is_waking_) return;  // the loop further out sees what was added
  is_waking_ = true;
  Perturbation& perturbation = worker_.perturbation();
  if (perturbation.is_on()) {
    perturbation.pause();
    wakes_.shuffle([&perturbation] { return perturbation.next(); });
  }
  wakes_.wake_all(worker_);
  is_waking_ = false;
}

// ---------------------------------------------------------------- frames

Frame* RunWorker::make_frame(BodyId body_id, Frame* outer, std::uint64_t stream) {
  const Body& body = program_.bodies[body_id];
  if (outer) outer->retain();
  ++counters.frames;
  return ::new (cells_.allocate(Frame::size_of(body))) Frame(run_, body, outer, stream);
}

/// And those around it that it was the last one to refer to.
void RunWorker::free_frame(Frame* frame) {
  do {  // a loop: chains of callers may be long
    Frame* outer = frame->outer;
    const std::size_t size_bytes = Frame::size_of(frame->body);
    if (frame->is_attempt) end_attempt(*frame);
    if (frame->window)
      if (Task* loop = frame->window->close()) push(*loop, frame->priority);
    const std::uint32_t placed = frame->placed;
    frame->~Frame();
    cells_.deallocate(frame, size_bytes);
    if (placed < Frame::inside_placed) run_.machine.placed_calls->finish(*this, placed);
    frame = outer;
  } while (frame && frame->drop());
}

std::uint64_t RunWorker::stream_at(const Frame& frame, std::uint32_t instruction) const {
  return math::mix_stream(frame.stream, program_.streams[instruction]);
}

RankWish RunWorker::rank_wish(Frame& frame, Operand given) const {
  if (!given.is_absent()) return RankWish::from_code(frame.at(given).get().as_int());
  return frame.rank.rank != RankWish::any ? frame.rank : RankWish{followed_rank, false};
}

// ---------------------------------------------------------------- failures

CallPlace RunWorker::call_place(const Frame& frame, Place place, std::span<const Place> calls) const {
  std::vector<Place> chain;
  add_written(program_, place, chain);
  for (const Place& call : calls) add_written(program_, call, chain);
  for (const Frame* each = &frame; each && chain.size() <= call_chain_limit; each = each->outer) {
    if (!each->is_function() || each->call_site == no_id) continue;
    if (program_.functions[each->body.function].is_outlined) continue;  // the loop is in the text around it
    const Place call = program_.places[each->call_site];
    if (call.end != 0) add_written(program_, call, chain);  // else it is nowhere in the text
  }
  return {chain[0], {chain.begin() + 1, chain.end()}};
}

void RunWorker::end_run_at(Frame& frame, std::uint32_t instruction, std::string message) {
  CallPlace at = call_place(frame, program_.places[instruction]);
  run_.report(make_failure(std::move(at), std::move(message), {}), std::nullopt);
  run_.pool.stop();
}

Value RunWorker::new_failure(Frame& frame, CallPlace at, std::string message, FailureNotes notes, KeptBy kept_by) {
  // of two that write the same, which one comes second is left open
  if (kept_by == KeptBy::attempts && !notes.other_call) notes.iterations = failed_iterations(program_, frame, at);
  Ref<Failure> failure = make_failure(std::move(at), std::move(message), std::move(notes));
  if (Frame* const attempt = kept_by == KeptBy::attempts ? attempt_around(frame) : nullptr) {
    attempt->has_failed.store(true, std::memory_order_relaxed);
    run_.note_replaced(failure);
    return failed_value(std::move(failure));
  }
  run_.report(failure, run_.options.notes_iterations ? entry_iteration(frame) : std::nullopt);
  // the run is over: nothing follows the failure up through the calls
  for (const Frame* each = run_.options.keep_going ? nullptr : &frame; each; each = each->outer)
    if (each->call_site != no_id) memos_->tell_of_failed_memo(*each, each->call_site, failure->message);
  return failed_value(std::move(failure));
}

Value RunWorker::failure_at(Frame& frame, Place place, std::string message, std::vector<Place> calls) {
  return new_failure(frame, call_place(frame, place, calls), std::move(message), {});
}

Value RunWorker::failure_at(Frame& frame, std::uint32_t instruction, std::string message, FailureNotes notes) {
  frame.careful.store(true, std::memory_order_relaxed);
  return new_failure(frame, call_place(frame, program_.places[instruction]), std::move(message), std::move(notes));
}

void RunWorker::assigned_twice(Frame& frame, std::uint32_t instruction, const std::string& what) {
  frame.careful.store(true, std::memory_order_relaxed);
  const std::string text = (what.empty() ? "a variable is" : fmt::format("`{}`", what)) + " assigned more than once";
  new_failure(frame, call_place(frame, program_.places[instruction]), text, {}, KeptBy::nobody);
}

void RunWorker::element_assigned_twice(Frame& frame, Place place, Array& array, const Value& key) {
  frame.careful.store(true, std::memory_order_relaxed);
  FailureNotes notes;
  const auto [assigned, other] = assigned_places(program_, frame, place, key);
  if (other) notes.also_assigned_at = call_place(frame, *other).place;
  const std::string message = fmt::format("`{}` assigned more than once", array.element_name(key));
  array.fail(new_failure(frame, call_place(frame, assigned), message, std::move(notes), KeptBy::nobody));
}

void RunWorker::field_assigned_twice(Frame& frame, std::uint32_t instruction) {
  const Instruction& in = program_.instructions[instruction];
  const VariableInfo* variable = variable_of(frame, in.a);
  const std::string of = variable && !variable->name.empty() ? variable->name + "." : "";
  assigned_twice(frame, instruction, of + object_in<Structure>(frame.at(in.a)).field_name(in.d));
}

/// null: the script has no name for it
const VariableInfo* RunWorker::variable_of(const Frame& frame, Operand operand) const {
  return find_variable(program_, static_cast<BodyId>(&frame.body - program_.bodies.data()), operand);
}

void RunWorker::fail(Frame& frame, const Instruction& in, std::string message) {
  const Value failure = failure_at(frame, index_of(in), std::move(message));
  if (!in.a.is_absent()) put(frame, in, failure);
}

void RunWorker::fail_all(Frame& frame, const std::vector<Operand>& variables, const Value& failure) {
  for (const Operand variable : variables) {
    if (!variable.is_absent()) set(frame.at(variable), failure);
  }
}

}  // namespace raddle::vm
