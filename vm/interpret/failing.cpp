// Errors: the first cause is noted, results fail with it, and what depends on them does not run.
#include <fmt/format.h>

#include "vm/interpret/borrow.hpp"
#include "vm/interpret/interpreter.hpp"
#include "vm/interpret/run_state.hpp"

namespace raddle::vm {

namespace {

constexpr std::size_t call_chain_limit = 50;

/// A failure in a value or, through closed containers and files, in it.
Value failure_in(const Future& future) {
  if (!future.is_resolved()) return {};
  if (future.is_failed()) return future.get();
  if (const Future* closing = closing_of(future); closing && closing->is_failed()) return closing->get();
  Value found;
  const auto look = [&found](Future& inner) {
    if (!found) found = failure_in(inner);
  };
  switch (future.kind()) {
    case ValueKind::array: object_in<Array>(future).for_each_future(look); break;
    case ValueKind::bag: object_in<Bag>(future).for_each_future(look); break;
    case ValueKind::structure: {
      Structure& structure = object_in<Structure>(future);
      for (std::size_t i = 0; i < structure.field_count(); ++i) look(structure.field(i));
      break;
    }
    default: break;
  }
  return found;
}

}  // namespace

Value Interpreter::failure_at(Frame& frame, Place place, std::string message, std::uint32_t call) {
  Ref<Failure> failure = make_ref<Failure>(std::move(message), place);
  if (call != no_id) failure->calls.push_back(program_.places[call]);
  for (const Frame* each = &frame; each && failure->calls.size() < call_chain_limit; each = each->outer) {
    if (each->is_function() && each->call_site != no_id) failure->calls.push_back(program_.places[each->call_site]);
  }
  run_.report(failure);
  return failed_value(std::move(failure));
}

Value Interpreter::failure_at(Frame& frame, std::uint32_t instruction, std::string message) {
  frame.careful.store(true, std::memory_order_relaxed);
  return failure_at(frame, program_.places[instruction], std::move(message));
}

void Interpreter::assigned_twice(Frame& frame, std::uint32_t instruction, const std::string& what) {
  const std::string name = what.empty() ? "a variable is" : fmt::format("`{}`", what);
  const std::string message = name + " assigned more than once";
  if (instruction == no_id)
    failure_at(frame, Place{}, message);
  else
    failure_at(frame, instruction, message);
}

void Interpreter::fail(Frame& frame, const Instruction& in, std::string message) {
  const Value failure = failure_at(frame, index_of(in), std::move(message));
  if (!in.a.is_absent()) put(frame, in, failure);
}

Value Interpreter::failed_variable(Frame& frame, Operand operand) {
  if (operand.is_absent() || operand.is_constant()) return {};
  const Future& future = frame.at(operand);
  return future.is_failed() ? future.get() : Value();
}

Value Interpreter::failed_operand(Frame& frame, const Instruction& in) {
  const auto first_of = [&](const auto& operands) {
    for (const Operand operand : operands) {
      if (Value failure = failed_variable(frame, operand)) return failure;
    }
    return Value();
  };
  const auto deep_first_of = [&](const auto& operands) {
    for (const Operand operand : operands) {
      if (operand.is_absent() || operand.is_constant()) continue;
      if (Value failure = failure_in(frame.at(operand))) return failure;
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
      if (in.opcode == Opcode::file_assign) return deep_first_of(Operands{in.c});
      return first_of(Operands{in.b, in.c});
    case InstructionForm::row: return first_of(Operands{in.b, in.c});
    case InstructionForm::ternary: return first_of(Operands{in.b, in.c, Operand::from_bits(in.d)});
    case InstructionForm::list: {
      if (in.opcode != Opcode::array_map) return {};
      for (std::uint32_t i = 0; i < in.d; i += 2) {
        if (Value failure = failed_variable(frame, program_.lists[in.b.bits() + i])) return failure;
      }
      return {};
    }
    case InstructionForm::insert: return first_of(Operands{in.a, in.b});
    case InstructionForm::append:
    case InstructionForm::store: return first_of(Operands{in.a});
    case InstructionForm::builtin: {
      const BuiltinSite& site = program_.builtins[in.d];
      const auto inputs = site.arguments.begin() + site.file_output_count;
      return deep_first_of(std::vector<Operand>(inputs, site.arguments.end()));
    }
    case InstructionForm::app: {
      const std::size_t outputs = program_.apps[in.d].file_outputs.size();  // the first parameters
      for (std::size_t i = outputs; i < program_.functions[frame.body.function].parameter_count; ++i) {
        if (Value failure = failure_in(frame.slots()[i])) return failure;
      }
      return first_of(program_.apps[in.d].words);
    }
    case InstructionForm::branch: {
      if (Value failure = first_of(program_.branches[in.d].written)) return failure;
      if (in.opcode == Opcode::enter) return deep_first_of(program_.branches[in.d].awaited);
      return first_of(Operands{in.b});
    }
    case InstructionForm::foreach: return first_of(Operands{in.a, in.b, in.c});
    case InstructionForm::loop_test: return first_of(Operands{in.b});
  }
  return {};
}

bool Interpreter::fails_with_operand(Frame& frame, const Instruction& in) {
  const Value failure = failed_operand(frame, in);
  if (!failure) return false;
  fail_results(frame, in, failure);
  return true;
}

/// Those that were assigned before the failure keep their values.
void Interpreter::fail_all(Frame& frame, const std::vector<Operand>& variables, const Value& failure) {
  for (const Operand variable : variables) {
    if (!variable.is_absent()) set(frame.at(variable), failure);
  }
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
    case InstructionForm::row: put(frame, in, failure); return release_writer(frame, Operand::from_bits(in.d));
    case InstructionForm::insert:
    case InstructionForm::append: return release_writer(frame, Operand::from_bits(in.d));
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
    case InstructionForm::app: return fail_program(frame, program_.apps[in.d], failure);
    case InstructionForm::branch: {
      const BranchSite& site = program_.branches[in.d];
      fail_all(frame, site.assigned, failure);
      return drop_writers(frame, site.written);
    }
    case InstructionForm::foreach: {
      const ForeachSite& site = program_.foreaches[in.d];
      fail_all(frame, site.assigned, failure);
      return drop_writers(frame, site.written);
    }
    case InstructionForm::loop_test: {
      const LoopSite& site = program_.loops[in.d];
      fail_all(*frame.outer, site.results, failure);
      fail_all(*frame.outer, site.assigned, failure);
      for (const WriterShare& share : site.step.shares) release_writer(frame, share.array);
      return drop_writers(*frame.outer, site.written);
    }
  }
}

}  // namespace raddle::vm
