// Failures: what depends on a result that has failed does not run, and its results fail, too.
#include <algorithm>

#include <fmt/format.h>

#include "vm/calls/memo_caller.hpp"
#include "vm/calls/program_caller.hpp"
#include "vm/interpret/deep_wait.hpp"
#include "vm/interpret/interpreter.hpp"
#include "vm/interpret/run_state.hpp"
#include "vm/value/borrow.hpp"

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
    case InstructionForm::attempt:
    case InstructionForm::loop: return {};
    case InstructionForm::unary:
    case InstructionForm::hold: return first_of(Operands{in.b});
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
    case InstructionForm::foreach: {
      if (Value failure = first_of(program_.foreaches[in.d].written)) return failure;
      return first_of(Operands{in.a, in.b, in.c});
    }
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
  Value failure = failed_operand(frame, strand, in);
  if (!failure) return false;
  if (in.opcode == Opcode::call_builtin && program_.builtins[in.d].tells_incomplete) {
    const Future& array = frame.at(program_.builtins[in.d].arguments[0]);
    if (!array.is_failed() && object_in<Array>(array).lacks_elements())
      failure = here_.failure_at(frame, here_.index_of(in), as_failure(failure).message);
  }
  fail_results(frame, in, failure);
  return true;
}

/// The element that is not written is one of a row, if there is one: only that row fails, not the whole array.
void Interpreter::fail_insert(Frame& frame, const Instruction& in, const Value& failure) {
  const Operand root = Operand::from_bits(in.d);
  if (in.a == root || frame.at(in.a).is_failed()) return here_.writers().fail(frame, root, failure);
  object_in<Array>(frame.at(in.a)).fail(failure);
  here_.writers().release(frame, root);
}

void Interpreter::fail_results(Frame& frame, const Instruction& in, const Value& failure) {
  switch (form_of(in.opcode)) {
    case InstructionForm::make:
    case InstructionForm::unary:
    case InstructionForm::binary:
    case InstructionForm::ternary:
    case InstructionForm::list:
      if (in.opcode == Opcode::file_assign && !frame.at(in.b).is_failed()) {
        here_.set(object_in<File>(frame.at(in.b)).complete(), failure);
      }
      if (!in.a.is_absent()) put(frame, in, failure);
      return;
    case InstructionForm::row:
      put(frame, in, failure);
      return here_.writers().fail(frame, Operand::from_bits(in.d), failure);
    case InstructionForm::insert: return fail_insert(frame, in, failure);
    case InstructionForm::append:
    case InstructionForm::hold: return here_.writers().fail(frame, Operand::from_bits(in.d), failure);
    case InstructionForm::store:
    case InstructionForm::call:
    case InstructionForm::attempt:
    case InstructionForm::loop: return;
    case InstructionForm::builtin: {
      const BuiltinSite& site = program_.builtins[in.d];
      here_.fail_all(frame, site.results, failure);
      for (std::uint32_t i = 0; i < site.file_output_count; ++i) {
        const Future& file = frame.at(site.arguments[i]);
        if (!file.is_failed()) here_.set(object_in<File>(file).complete(), failure);
      }
      return;
    }
    case InstructionForm::memo: return here_.memos().fail_memo(frame, in, failure);
    case InstructionForm::app: return here_.programs().fail_program(frame, program_.apps[in.d], failure);
    case InstructionForm::branch: {
      const BranchSite& site = program_.branches[in.d];
      here_.fail_all(frame, site.assigned, failure);
      return here_.writers().fail(frame, site.written, failure);
    }
    case InstructionForm::foreach: {
      const ForeachSite& site = program_.foreaches[in.d];
      here_.fail_all(frame, site.assigned, failure);
      return here_.writers().fail(frame, site.written, failure);
    }
    case InstructionForm::loop_test: {
      const LoopSite& site = program_.loops[in.d];
      here_.fail_all(*frame.outer, site.results, failure);
      here_.fail_all(*frame.outer, site.assigned, failure);
      for (const WriterShare& share : site.step.shares) here_.writers().fail(frame, share.array, failure);
      return here_.writers().fail(*frame.outer, site.written, failure);
    }
  }
}

}  // namespace raddle::vm
