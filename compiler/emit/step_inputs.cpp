#include "compiler/emit/step_inputs.hpp"

#include <algorithm>
#include <utility>

#include "stdlib/builtins.hpp"

namespace raddle::emit {

using ir::OpKind;
using vm::AwaitMode;

void await(Step& step, ir::Operand operand, AwaitMode mode) {
  if (operand.is_constant || operand.index == ir::none) return;
  const Awaited input{operand.index, mode};
  if (std::ranges::find(step.awaited, input) == step.awaited.end()) step.awaited.push_back(input);
}

namespace {

void pass(Step& step, ir::Operand operand) {
  if (!operand.is_constant && operand.index != ir::none) step.passed.push_back(operand.index);
}
void await_all(Step& step, AwaitMode mode) {
  for (const ir::Operand operand : step.op->operands) await(step, operand, mode);
}
void pass_all(Step& step) {
  for (const ir::Operand operand : step.op->operands) pass(step, operand);
}
void await_but_last(Step& step) {
  const std::vector<ir::Operand>& operands = step.op->operands;
  for (std::size_t i = 0; i + 1 < operands.size(); ++i) await(step, operands[i], AwaitMode::set);
  pass(step, operands.back());
}

}  // namespace

Step StepInputs::operation(const ir::Op& op) const {
  Step step;
  step.op = &op;
  step.results = op.results;
  set_inputs(step);
  return step;
}

Step StepInputs::loop_test(const ir::Op& op) const {
  Step step;
  step.kind = StepKind::loop_test;
  step.op = &op;
  await(step, op.condition, AwaitMode::set);
  for (const ir::Operand next : op.nexts) pass(step, next);
  return step;
}

Step StepInputs::run_app() const {
  Step step;
  step.kind = StepKind::run_app;
  step.alone = true;
  for (std::size_t i = 0; i < function_.parameters.size(); ++i) {
    const ir::Operand parameter = ir::Operand::variable(function_.parameters[i]);
    await(step, parameter, i < function_.file_output_count ? AwaitMode::set : deep_mode(parameter));
  }
  const ir::Command& command = function_.command;
  for (const ir::Operand word : command.words) {
    const bool is_output = !word.is_constant && is_file_output(word.index);
    await(step, word, is_output ? AwaitMode::set : deep_mode(word));
  }
  if (command.stdin_file.index != ir::none) await(step, command.stdin_file, deep_mode(command.stdin_file));
  for (const ir::Operand file : {command.stdout_file, command.stderr_file}) {
    if (file.index != ir::none) await(step, file, AwaitMode::set);
  }
  for (const ir::Operand limit : command.limits) await(step, limit, AwaitMode::set);
  step.results = function_.outputs;
  return step;
}

bool StepInputs::is_file_output(ir::VarId variable) const {
  const auto end = function_.parameters.begin() + function_.file_output_count;
  return std::find(function_.parameters.begin(), end, variable) != end;
}

/// Scalars have nothing inside: waiting for the value is enough.
AwaitMode StepInputs::deep_mode(ir::Operand operand) const {
  const TypeKind type = kind_of(module_, function_, operand);
  if (type == TypeKind::array || type == TypeKind::bag || type == TypeKind::structure) return AwaitMode::deep;
  return type == TypeKind::file || type == TypeKind::url ? AwaitMode::closed : AwaitMode::set;
}
AwaitMode StepInputs::closed_mode(ir::Operand operand) const { return std::min(deep_mode(operand), AwaitMode::closed); }
AwaitMode StepInputs::reference_mode(ir::Operand operand) const {
  const TypeKind type = kind_of(module_, function_, operand);
  if (type == TypeKind::file || type == TypeKind::url) return AwaitMode::named;
  return type == TypeKind::array || type == TypeKind::bag ? AwaitMode::closed : AwaitMode::set;
}

void StepInputs::await_builtin(Step& step) const {
  const ir::Op& op = *step.op;
  const stdlib::BuiltinSignature& signature = stdlib::signature_of(op.callee);
  const std::size_t files = signature.file_output_count();
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    const ir::Operand operand = op.operands[i];
    const bool names_file = i < files || op.number != 0;
    await(step, operand, names_file ? AwaitMode::set : input_mode(operand, signature.mark(i - files)));
  }
}

AwaitMode StepInputs::input_mode(ir::Operand operand, stdlib::InputMark mark) const {
  switch (mark) {
    case stdlib::InputMark::none: return deep_mode(operand);
    case stdlib::InputMark::closed: return reference_mode(operand);
    case stdlib::InputMark::reference: return AwaitMode::set;
  }
  std::unreachable();
}

/// File outputs of `memo` need only be there; those of `memo_keep` are complete.
void StepInputs::await_memo(Step& step, std::size_t first_file) const {
  const ir::Op& op = *step.op;
  const std::size_t first_input = first_file + static_cast<std::size_t>(op.number);
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    const bool is_unfilled = op.kind == OpKind::memo && i < first_input;
    await(step, op.operands[i], is_unfilled ? AwaitMode::set : deep_mode(op.operands[i]));
  }
}

bool StepInputs::is_synchronous(const ir::Op& op) {
  switch (op.kind) {
    case OpKind::array_get:
    case OpKind::struct_get:
    case OpKind::memo:
    case OpKind::if_:
    case OpKind::switch_:
    case OpKind::foreach_range:
    case OpKind::foreach_array:
    case OpKind::wait:
    case OpKind::wait_deep: return false;
    case OpKind::call_builtin:
      return !may_end_later(stdlib::builtins()[op.callee].effect) && op.priority.index == ir::none;
    default: return ir::info(op.kind).strict != ir::Strict::none;
  }
}

void StepInputs::set_inputs(Step& step) const {
  const ir::Op& op = *step.op;
  step.synchronous = is_synchronous(op);
  step.alone = ir::info(op.kind).strict == ir::Strict::none;
  await(step, op.priority, AwaitMode::set);
  await(step, op.rank, AwaitMode::set);
  switch (ir::info(op.kind).strict) {
    case ir::Strict::all: return await_all(step, AwaitMode::set);
    case ir::Strict::first: return await_but_last(step);
    case ir::Strict::none: return pass_all(step);
    case ir::Strict::own: return set_own_inputs(step);
  }
}

void StepInputs::set_own_inputs(Step& step) const {
  const std::vector<ir::Operand>& operands = step.op->operands;
  switch (step.op->kind) {
    case OpKind::array_map:
      for (std::size_t i = 0; i < operands.size(); i += 2) {
        await(step, operands[i], AwaitMode::set);
        pass(step, operands[i + 1]);
      }
      return;
    case OpKind::call_builtin: return await_builtin(step);
    case OpKind::memo: return await_memo(step, 2);
    case OpKind::memo_keep: return await_memo(step, 1);
    case OpKind::file_assign:
      await(step, operands[0], AwaitMode::set);
      return await(step, operands[1], AwaitMode::closed);
    case OpKind::foreach_array: return await(step, operands[0], AwaitMode::closed);
    case OpKind::wait:
      for (const ir::Operand operand : operands) await(step, operand, closed_mode(operand));
      return;
    case OpKind::wait_deep:
      for (const ir::Operand operand : operands) await(step, operand, deep_mode(operand));
      return;
    default: std::unreachable();  // ops.def names no others
  }
}

}  // namespace raddle::emit
