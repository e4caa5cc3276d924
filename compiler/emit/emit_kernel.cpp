#include "compiler/emit/emit_kernel.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/emit/guarded_assignments.hpp"
#include "compiler/emit/kernel_emitter.hpp"
#include "compiler/ir/kernel_operator.hpp"
#include "stdlib/builtins.hpp"

namespace raddle::emit {

using ir::OpKind;
using vm::KernelInstruction;
using vm::KernelOp;
using vm::KernelRegister;
using vm::KernelType;

vm::Kernel KernelEmitter::run() {
  kernel_.name = leaf_.name;
  kernel_.place = place_of(leaf_.span);
  for (std::size_t i = 0; i < leaf_.parameters.size(); ++i) {
    if (i == 1) make_rows();
    static_cast<void>(register_of(leaf_.parameters[i]));
  }
  if (leaf_.parameters.size() == 1) make_rows();
  kernel_.parameter_count = static_cast<std::uint32_t>(kernel_.types.size());
  static_cast<void>(block(0));
  if (is_refused_) return {};
  for (const ir::VarId output : leaf_.outputs)
    if (!vm::is_array(type_of(leaf_.variables[output].type))) kernel_.outputs.push_back(register_of(output));
  return take();
}

// ---------------------------------------------------------------- registers
KernelType KernelEmitter::type_of(TypeId type) {
  const std::optional<KernelType> found = ir::kernel_type(*module_.types, type);
  if (!found) refuse();
  return found.value_or(KernelType::int_);
}

KernelRegister KernelEmitter::register_of(ir::VarId variable) {
  KernelRegister& known = registers_[variable];
  if (known == vm::no_kernel_part) known = make_register(type_of(leaf_.variables[variable].type));
  return known;
}

void KernelEmitter::make_rows() {
  for (const ir::VarId output : leaf_.outputs) {
    if (!module_.types->is_array(leaf_.variables[output].type)) continue;
    static_cast<void>(register_of(output));
    ++kernel_.row_count;
  }
}

KernelRegister KernelEmitter::register_of(ir::Operand operand) {
  if (!operand.is_constant) return register_of(operand.index);
  const ir::Constant& value = module_.constants[operand.index];
  if (const auto* number = std::get_if<double>(&value))
    return constant(KernelType::float_, std::bit_cast<std::int64_t>(*number));
  if (const auto* truth = std::get_if<bool>(&value)) return constant(KernelType::boolean, *truth ? 1 : 0);
  return constant(KernelType::int_, std::get<std::int64_t>(value));
}

std::vector<KernelRegister> KernelEmitter::registers_of(const std::vector<ir::Operand>& operands) {
  std::vector<KernelRegister> registers;
  for (const ir::Operand operand : operands) registers.push_back(register_of(operand));
  return registers;
}

std::vector<KernelRegister> KernelEmitter::registers_of(const std::vector<ir::VarId>& variables) {
  std::vector<KernelRegister> registers;
  for (const ir::VarId variable : variables) registers.push_back(register_of(variable));
  return registers;
}

// ---------------------------------------------------------------- instructions
vm::KernelBlockId KernelEmitter::block(ir::RegionId region) {
  return block_of([&] { operations(region); });
}

void KernelEmitter::operations(ir::RegionId region) {
  for (const ir::Op& op : leaf_.regions[region].ops)
    if (!is_refused_) operation(op);
}

void KernelEmitter::operation(const ir::Op& op) {
  if (const ir::ReducedLoop* const reduced = reduced_loops_.of(op)) {
    if (&op == reduced->reduction) reduce(*reduced);
    return;
  }
  switch (op.kind) {
    case OpKind::array_get: return element(op);
    case OpKind::call: return module_.functions[op.callee].kind == ir::FunctionKind::foreign ? foreign(op) : call(op);
    case OpKind::call_builtin: return library(op);
    case OpKind::if_: return branch(op);
    case OpKind::switch_: return choose(op, 0);
    case OpKind::loop: return loop(op);
    case OpKind::array_new: return own_array(op);
    case OpKind::array_insert: return own_element(op);
    case OpKind::foreach_range: return each(op);
    case OpKind::wait:
    case OpKind::wait_deep: return operations(op.regions[0]);  // all that it waits for is there
    default: return compute(op);
  }
}

void KernelEmitter::compute(const ir::Op& op) {
  const KernelType type = type_of(op.operands[0]);
  if (op.is_tracked) {  // a copy of a growing array
    const KernelRegister count = there_.at(op.operands[0].index).next(op.span);
    return computed(op, KernelOp::first, {register_of(op.operands[0]), count});
  }
  const ir::KernelOperator found = vm::is_array(type) ? ir::KernelOperator() : ir::kernel_operator(op.kind, type);
  if (found.op == KernelOp::if_) return refuse();
  std::vector<KernelRegister> inputs = registers_of(op.operands);
  if (found.swaps) std::swap(inputs[0], inputs[1]);
  computed(op, found.op, inputs);
}

void KernelEmitter::computed(const ir::Op& op, KernelOp made, const std::vector<KernelRegister>& inputs) {
  const KernelRegister result = vm::info(made).result == 'v' ? vm::no_kernel_part : register_of(op.results[0]);
  KernelInstruction& instruction = put(made, op.span);
  instruction.result = result;
  std::ranges::copy(inputs, instruction.inputs.begin());
}

void KernelEmitter::element(const ir::Op& op) {
  const KernelOp made = vm::get_of(element_of(type_of(op.operands[0])));
  if (op.is_tracked) there_.at(op.operands[0].index).read(register_of(op.operands[1]), op.span);
  computed(op, made, registers_of(op.operands));
}

void KernelEmitter::library(const ir::Op& op) {
  if (const stdlib::OwnFunction* const own = stdlib::find_own_function(op.callee)) return own_function(op, *own);
  const KernelOp made = ir::library_operator(module_, leaf_, op);
  if (made == KernelOp::if_) return refuse();
  std::vector<KernelRegister> inputs;
  for (std::size_t i = 0; i < vm::info(made).inputs.size(); ++i) inputs.push_back(register_of(op.operands[i]));
  computed(op, made, inputs);
}

// ---------------------------------------------------------------- control
KernelRegister KernelEmitter::condition(ir::Operand operand, Span span) {
  const KernelRegister value = register_of(operand);
  if (type_of(operand) == KernelType::boolean) return value;
  const KernelRegister zero = constant(KernelType::int_, 0), truth = make_register(KernelType::boolean);
  KernelInstruction& test = put(KernelOp::ne_int, span);
  test.result = truth;
  test.inputs = {value, zero, vm::no_kernel_part};
  return truth;
}

std::uint32_t KernelEmitter::put_branch(KernelRegister condition, Span span) {
  KernelInstruction& instruction = put(KernelOp::if_, span);
  instruction.inputs[0] = condition;
  instruction.index = static_cast<std::uint32_t>(kernel_.branches.size());
  kernel_.branches.emplace_back();
  return instruction.index;
}

void KernelEmitter::branch(const ir::Op& op) {
  const std::uint32_t made = put_branch(condition(op.operands[0], op.span), op.span);
  const vm::KernelBlockId then_block = block(op.regions[0]);
  const vm::KernelBlockId else_block = op.regions.size() > 1 ? block(op.regions[1]) : vm::no_kernel_part;
  kernel_.branches[made] = {then_block, else_block};
}

void KernelEmitter::choose(const ir::Op& op, std::size_t first) {
  if (first == op.labels.size()) {
    if (op.regions.size() > op.labels.size()) operations(op.regions.back());
    return;
  }
  const KernelRegister label = constant(KernelType::int_, op.labels[first]);
  const KernelRegister value = register_of(op.operands[0]), is_it = make_register(KernelType::boolean);
  KernelInstruction& test = put(KernelOp::eq_int, op.span);
  test.result = is_it;
  test.inputs = {value, label, vm::no_kernel_part};
  const std::uint32_t made = put_branch(is_it, op.span);
  vm::KernelBranch branch;
  branch.then_block = block(op.regions[first]);
  if (first + 1 < op.regions.size()) {
    const vm::KernelBlockId around = block_;
    block_ = branch.else_block = begin_block();
    choose(op, first + 1);
    block_ = around;
  }
  kernel_.branches[made] = branch;
}

void KernelEmitter::loop(const ir::Op& op) {
  const std::vector<ir::VarId>& variables = leaf_.regions[op.regions[0]].parameters;
  vm::KernelLoop made;
  made.initial = registers_of(op.operands);
  made.variables = registers_of(variables);
  made.test_after = op.test_after;
  if (loops_around_++ == 0) hoist_arrays(op, op);
  KernelInstruction& instruction = put(KernelOp::loop, op.span);
  const auto index = instruction.index = static_cast<std::uint32_t>(kernel_.loops.size());
  kernel_.loops.emplace_back();
  made.test_block = block(op.regions[0]);
  made.body_block = block(op.regions[1]);
  made.condition = register_of(op.condition);
  made.next = registers_of(op.nexts);
  for (const Turn& turn : turns_[&op]) {
    made.variables.insert(made.variables.end(), turn.variables.begin(), turn.variables.end());
    made.initial.insert(made.initial.end(), turn.arrays.begin(), turn.arrays.end());
    made.next.insert(made.next.end(), turn.variables.begin() + 1, turn.variables.end());
    made.next.push_back(turn.variables[0]);
  }
  kernel_.loops[index] = std::move(made);
  --loops_around_;
  for (std::size_t i = 0; i < op.results.size(); ++i) {
    const ir::VarId result = op.results[i];
    if (assignments_[result] == 1) {  // nobody else: it is the variable
      registers_[result] = register_of(variables[i]);
      continue;
    }
    const KernelRegister from = register_of(variables[i]), to = register_of(result);
    KernelInstruction& copy = put(KernelOp::copy, op.span);
    copy.inputs[0] = from;
    copy.result = to;
  }
}

KernelRegister KernelEmitter::count_of(const ir::Op& loop) {
  const ir::Operand last = loop.operands[1];
  if (last.is_constant) {
    const std::int64_t most = std::get<std::int64_t>(module_.constants[last.index]);
    return constant(KernelType::int_, std::max<std::int64_t>(most, -1) + 1);
  }
  const KernelRegister from = register_of(last), one = constant(KernelType::int_, 1);
  const KernelRegister count = make_register(KernelType::int_);
  KernelInstruction& add = put(KernelOp::add_int, loop.span);
  add.result = count;
  add.inputs = {from, one, vm::no_kernel_part};
  return count;
}

// ---------------------------------------------------------------- calls
void KernelEmitter::call(const ir::Op& op) {
  if (module_.functions[op.callee].kind != ir::FunctionKind::leaf) return refuse();
  vm::KernelCall made{op.callee, registers_of(op.operands), registers_of(op.results)};
  put(KernelOp::call, op.span).index = static_cast<std::uint32_t>(kernel_.calls.size());
  kernel_.calls.push_back(std::move(made));
}

void KernelEmitter::reduce(const ir::ReducedLoop& reduced) {
  if (reduced.loop->launch == ir::none) return refuse();
  const ir::IndexLaunch& launch = leaf_.launches[reduced.loop->launch];
  const KernelRegister count = count_of(*reduced.loop);
  vm::KernelReduction made{launch.kernel, *vm::reducer_of_function(stdlib::builtins()[reduced.reduction->callee].name),
                           count, registers_of(launch.captures), register_of(reduced.reduction->results[0])};
  put(KernelOp::reduce, reduced.reduction->span).index = static_cast<std::uint32_t>(kernel_.reductions.size());
  kernel_.reductions.push_back(std::move(made));
}

void KernelEmitter::foreign(const ir::Op& op) {
  const ir::Foreign& callee = module_.functions[op.callee].foreign;
  vm::KernelForeignCall made{callee.library, callee.code, op.callee, registers_of(op.operands),
                             register_of(op.results[0])};
  put(KernelOp::foreign, op.span).index = static_cast<std::uint32_t>(kernel_.foreign_calls.size());
  kernel_.foreign_calls.push_back(std::move(made));
}

vm::Kernel emit_kernel(const ir::Module& module, const ir::Function& leaf) { return KernelEmitter(module, leaf).run(); }

std::vector<vm::Kernel> emit_kernels(const ir::Module& module) {
  std::vector<vm::Kernel> kernels;
  for (const ir::Function& function : module.functions)
    kernels.push_back(function.is_leaf() ? emit_kernel(module, function) : vm::Kernel{});
  return kernels;
}

}  // namespace raddle::emit
