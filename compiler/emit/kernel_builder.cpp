#include "compiler/emit/kernel_builder.hpp"

#include <algorithm>

#include "compiler/emit/guarded_assignments.hpp"

namespace raddle::emit {

using vm::KernelRegister;

namespace {

constexpr KernelRegister first_constant = 1U << 31;  ///< constants are numbered from here on until all others are known

/// Calls `visit` with each register that an instruction or another part of the kernel names, which may be absent.
template <typename Visit>
void visit_registers(vm::Kernel& kernel, const Visit& visit) {
  for (std::vector<vm::KernelInstruction>& instructions : kernel.blocks) {
    for (vm::KernelInstruction& instruction : instructions) {
      visit(instruction.result);
      std::ranges::for_each(instruction.inputs, visit);
    }
  }
  for (vm::KernelLoop& loop : kernel.loops) {
    for (auto* const registers : {&loop.variables, &loop.initial, &loop.next}) std::ranges::for_each(*registers, visit);
    visit(loop.condition);
  }
  for (vm::KernelCall& call : kernel.calls)
    for (auto* const registers : {&call.inputs, &call.results}) std::ranges::for_each(*registers, visit);
  for (vm::KernelReduction& reduction : kernel.reductions) {
    visit(reduction.count);
    std::ranges::for_each(reduction.inputs, visit);
    visit(reduction.result);
  }
  for (vm::KernelForeignCall& call : kernel.foreign_calls) {
    std::ranges::for_each(call.inputs, visit);
    visit(call.result);
  }
  for (vm::KernelEach& each : kernel.eaches) {
    visit(each.point);
    visit(each.count);
  }
  std::ranges::for_each(kernel.outputs, visit);
}

}  // namespace

vm::Kernel KernelBuilder::take() {
  const auto count = static_cast<KernelRegister>(kernel_.constants.size());
  visit_registers(kernel_, [&](KernelRegister& id) {
    if (id == vm::no_kernel_part || id < kernel_.parameter_count) return;
    id = id >= first_constant ? id - first_constant + kernel_.parameter_count : id + count;
  });
  kernel_.types.insert(kernel_.types.begin() + kernel_.parameter_count, constant_types_.begin(), constant_types_.end());
  return std::move(kernel_);
}

KernelRegister KernelBuilder::make_register(vm::KernelType type) {
  kernel_.types.push_back(type);
  return static_cast<KernelRegister>(kernel_.types.size() - 1);
}

KernelRegister KernelBuilder::constant(vm::KernelType type, std::int64_t bits) {
  const auto [found, is_new] = constant_index_.try_emplace({type, bits}, 0);
  if (is_new) {
    found->second = first_constant + static_cast<KernelRegister>(kernel_.constants.size());
    kernel_.constants.push_back(bits);
    constant_types_.push_back(type);
  }
  return found->second;
}

vm::KernelInstruction& KernelBuilder::put(vm::KernelOp op, Span span) {
  vm::KernelInstruction& instruction = kernel_.blocks[block_].emplace_back();
  instruction.op = op;
  instruction.place = place_of(span);
  return instruction;
}

KernelRegister KernelBuilder::put(vm::KernelOp op, vm::KernelType type, std::initializer_list<KernelRegister> inputs,
                                  Span span) {
  put(op, inputs, span);
  return kernel_.blocks[block_].back().result = make_register(type);
}

void KernelBuilder::put(vm::KernelOp op, std::initializer_list<KernelRegister> inputs, Span span) {
  std::ranges::copy(inputs, put(op, span).inputs.begin());
}

void KernelBuilder::put_array(vm::KernelOp made, KernelRegister array, KernelRegister count, Span span) {
  vm::KernelInstruction& instruction = put(made, span);
  instruction.result = array;
  instruction.inputs[0] = count;
}

vm::KernelBlockId KernelBuilder::begin_block() {
  kernel_.blocks.emplace_back();
  return static_cast<vm::KernelBlockId>(kernel_.blocks.size() - 1);
}

}  // namespace raddle::emit
