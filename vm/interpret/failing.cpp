// Errors: the first cause is noted, results fail with it, and what depends on them does not run.
#include <algorithm>

#include <fmt/format.h>

#include "vm/interpret/deep_wait.hpp"
#include "vm/interpret/interpreter.hpp"
#include "vm/interpret/run_state.hpp"

namespace raddle::vm {

namespace {

/// How far the strand has waited for a variable.
AwaitMode awaited_mode(const Program& program, const Strand& strand, Operand variable) {
  const AwaitedInput* first = program.awaited.data() + strand.first_awaited;
  const AwaitedInput* end = first + strand.awaited_count;
  const AwaitedInput* found =
      std::find_if(first, end, [&](const AwaitedInput& each) { return each.variable == variable; });
  return found == end ? AwaitMode::set : found->mode;
}

/// The value that the entry's loop has in the iteration that the frame belongs to.
std::optional<std::int64_t> entry_iteration(const Frame& frame) {
  const Frame* each = &frame;
  while (each->outer != nullptr && each->outer->outer != nullptr) each = each->outer;
  if (each->outer == nullptr || each->is_function()) return std::nullopt;
  const Future& value = each->slots()[0];
  if (!value.is_resolved() || value.kind() != ValueKind::int_) return std::nullopt;
  return value.get().as_int();
}

}  // namespace

Value failure_in(const Future& future) {
  if (!future.is_resolved()) return {};
  if (future.is_failed()) return future.get();
  if (const Future* closing = closing_of(future)) {
    if (closing->is_failed()) return closing->get();
    if (!closing->is_resolved()) return {};  // it may still grow: what is in it can not be looked at
  }
  Value found;
  for_each_inner(future, AwaitMode::deep, [&found](Future& inner) {
    if (!found) found = failure_in(inner);
  });
  return found;
}

CallPlace Interpreter::call_place(const Frame& frame, Place place, std::vector<Place> calls) const {
  CallPlace found{place, std::move(calls)};
  for (const Frame* each = &frame; each && found.calls.size() < call_chain_limit; each = each->outer) {
    if (!each->is_function() || each->call_site == no_id) continue;
    const Place call = program_.places[each->call_site];
    if (call.end != 0) found.calls.push_back(call);  // else it is nowhere in the text
  }
  return found;
}

Value Interpreter::new_failure(const Frame& frame, CallPlace at, std::string message, FailureNotes notes) {
  Ref<Failure> failure = make_ref<Failure>(std::move(message), at.place);
  failure->calls = std::move(at.calls);
  failure->notes = std::move(notes);
  run_.report(failure, run_.options.notes_iterations ? entry_iteration(frame) : std::nullopt);
  // the run is over: nothing follows the failure up through the calls
  for (const Frame* each = run_.options.keep_going ? nullptr : &frame; each; each = each->outer)
    if (each->call_site != no_id) tell_of_failed_memo(*each, each->call_site, failure->message);
  return failed_value(std::move(failure));
}

Value Interpreter::failure_at(Frame& frame, Place place, std::string message, std::vector<Place> calls) {
  return new_failure(frame, call_place(frame, place, std::move(calls)), std::move(message), {});
}

Value Interpreter::failure_at(Frame& frame, std::uint32_t instruction, std::string message, FailureNotes notes) {
  frame.careful.store(true, std::memory_order_relaxed);
  return new_failure(frame, call_place(frame, program_.places[instruction]), std::move(message), std::move(notes));
}

std::string assigned_twice_text(const std::string& variable) {
  return (variable.empty() ? "a variable is" : fmt::format("`{}`", variable)) + " assigned more than once";
}

void Interpreter::assigned_twice(Frame& frame, std::uint32_t instruction, const std::string& what) {
  failure_at(frame, instruction, assigned_twice_text(what));
}

void Interpreter::field_assigned_twice(Frame& frame, std::uint32_t instruction) {
  const Instruction& in = program_.instructions[instruction];
  const VariableInfo* variable = find_variable(program_, body_of(frame), in.a);
  const std::string of = variable && !variable->name.empty() ? variable->name + "." : "";
  assigned_twice(frame, instruction, of + object_in<Structure>(frame.at(in.a)).field_name(in.d));
}

void Interpreter::fail(Frame& frame, const Instruction& in, std::string message) {
  const Value failure = failure_at(frame, index_of(in), std::move(message));
  if (!in.a.is_absent()) put(frame, in, failure);
}

Value Interpreter::failed_input(Frame& frame, const Strand& strand, Operand operand) {
  if (operand.is_absent() || operand.is_constant()) return {};
  const Future& future = frame.at(operand);
  if (future.is_failed()) return future.get();
  // what the strand has not awaited to be closed need not be: writers write to open arrays
  switch (awaited_mode(program_, strand, operand)) {
    case AwaitMode::set: return {};
    case AwaitMode::named:
      if (object_in<File>(future).has_path()) return {};
      [[fallthrough]];
    case AwaitMode::closed: {
      const Future* closing = closing_of(future);
      return closing && closing->is_failed() ? closing->get() : Value();
    }
    case AwaitMode::deep: return failure_in(future);
  }
  return {};
}

Value Interpreter::failed_operand(Frame& frame, const Strand& strand, const Instruction& in) {
  const auto first_of = [&](const auto& operands) {
    for (const Operand operand : operands) {
      if (Value failure = failed_input(frame, strand, operand)) return failure;
    }
    return Value();
  };
  using Operands = std::initializer_list<Operand>;
  switch (form_of(in.opcode)) {
    case InstructionForm::make:
    case InstructionForm::call:
    case InstructionForm::loop: return {};
    case InstructionForm::unary: return first_of(Operands{in.b});
    case InstructionForm::binary:
    case InstructionForm::row: return first_of(Operands{in.b, in.c});
    case InstructionForm::ternary: return first_of(Operands{in.b, in.c, Operand::from_bits(in.d)});
    case InstructionForm::list: {
      if (in.opcode != Opcode::array_map) return {};
      for (std::uint32_t i = 0; i < in.d; i += 2) {
        if (Value failure = failed_input(frame, strand, program_.lists[in.b.bits() + i])) return failure;
      }
      return {};
    }
    case InstructionForm::insert: return first_of(Operands{in.a, in.b});
    case InstructionForm::append:
    case InstructionForm::store: return first_of(Operands{in.a});
    case InstructionForm::builtin: return first_of(program_.builtins[in.d].arguments);
    case InstructionForm::app: {
      for (std::uint32_t i = 0; i < program_.functions[frame.body.function].parameter_count; ++i) {
        if (Value failure = failed_input(frame, strand, Operand::local(i, 0, false))) return failure;
      }
      return first_of(program_.apps[in.d].words);
    }
    case InstructionForm::branch: {
      const BranchSite& site = program_.branches[in.d];
      if (Value failure = first_of(site.written)) return failure;
      return in.opcode == Opcode::enter ? first_of(site.awaited) : first_of(Operands{in.b});
    }
    case InstructionForm::foreach: return first_of(Operands{in.a, in.b, in.c});
    case InstructionForm::loop_test: return first_of(Operands{in.b});
    case InstructionForm::memo: {
      const MemoSite& site = program_.memos[in.d];
      if (Value failure = first_of(site.files)) return failure;
      return first_of(in.opcode == Opcode::memo ? site.inputs : site.outputs);
    }
  }
  return {};
}

bool Interpreter::fails_with_operand(Frame& frame, const Strand& strand, const Instruction& in) {
  const Value failure = failed_operand(frame, strand, in);
  if (!failure) return false;
  fail_results(frame, in, failure);
  return true;
}

void Interpreter::fail_writer(Frame& frame, Operand array, const Value& failure) {
  Future& variable = frame.at(array);
  if (variable.is_failed()) return;
  if (variable.kind() == ValueKind::array)
    object_in<Array>(variable).fail(failure);
  else
    object_in<Bag>(variable).fail(failure);
  release_writers(variable, 1);
}

void Interpreter::fail_writers(Frame& frame, const std::vector<Operand>& arrays, const Value& failure) {
  for (const Operand array : arrays) fail_writer(frame, array, failure);
}

/// Those that were assigned before the failure keep their values.
void Interpreter::fail_all(Frame& frame, const std::vector<Operand>& variables, const Value& failure) {
  for (const Operand variable : variables) {
    if (!variable.is_absent()) set(frame.at(variable), failure);
  }
}

/// The element that is not written is one of a row, if there is one: only that row fails, not the whole array.
void Interpreter::fail_insert(Frame& frame, const Instruction& in, const Value& failure) {
  const Operand root = Operand::from_bits(in.d);
  if (in.a == root || frame.at(in.a).is_failed()) return fail_writer(frame, root, failure);
  object_in<Array>(frame.at(in.a)).fail(failure);
  release_writer(frame, root);
}

void Interpreter::fail_results(Frame& frame, const Instruction& in, const Value& failure) {
  switch (form_of(in.opcode)) {
    case InstructionForm::make:
    case InstructionForm::unary:
    case InstructionForm::binary:
    case InstructionForm::ternary:
    case InstructionForm::list:
      if (in.opcode == Opcode::file_assign && !frame.at(in.b).is_failed()) {
        set(object_in<File>(frame.at(in.b)).complete(), failure);
      }
      if (!in.a.is_absent()) put(frame, in, failure);
      return;
    case InstructionForm::row: put(frame, in, failure); return fail_writer(frame, Operand::from_bits(in.d), failure);
    case InstructionForm::insert: return fail_insert(frame, in, failure);
    case InstructionForm::append: return fail_writer(frame, Operand::from_bits(in.d), failure);
    case InstructionForm::store:
    case InstructionForm::call:
    case InstructionForm::loop: return;
    case InstructionForm::builtin: {
      const BuiltinSite& site = program_.builtins[in.d];
      fail_all(frame, site.results, failure);
      for (std::uint32_t i = 0; i < site.file_output_count; ++i) {
        const Future& file = frame.at(site.arguments[i]);
        if (!file.is_failed()) set(object_in<File>(file).complete(), failure);
      }
      return;
    }
    case InstructionForm::memo: return fail_memo(frame, in, failure);
    case InstructionForm::app: return fail_program(frame, program_.apps[in.d], failure);
    case InstructionForm::branch: {
      const BranchSite& site = program_.branches[in.d];
      fail_all(frame, site.assigned, failure);
      return fail_writers(frame, site.written, failure);
    }
    case InstructionForm::foreach: {
      const ForeachSite& site = program_.foreaches[in.d];
      fail_all(frame, site.assigned, failure);
      return fail_writers(frame, site.written, failure);
    }
    case InstructionForm::loop_test: {
      const LoopSite& site = program_.loops[in.d];
      fail_all(*frame.outer, site.results, failure);
      fail_all(*frame.outer, site.assigned, failure);
      for (const WriterShare& share : site.step.shares) fail_writer(frame, share.array, failure);
      return fail_writers(*frame.outer, site.written, failure);
    }
  }
}

}  // namespace raddle::vm
