#include "compiler/codegen/operation_emitter.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <type_traits>
#include <utility>

#include "compiler/codegen/kernel_ir.hpp"
#include "vm/program/leaf_abi.hpp"

namespace raddle::codegen {
namespace {

using Operations = vm::KernelOperations<KernelIr>;

unsigned lanes_of(llvm::Type* type) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return vector == nullptr ? 1 : vector->getNumElements();
}

std::int32_t status_of(vm::KernelFailure failure) {
  switch (failure) {
    case vm::KernelFailure::nothing: break;
    case vm::KernelFailure::overflow: return raddle_leaf_integer_overflow;
    case vm::KernelFailure::division: return raddle_leaf_division_by_zero;
    case vm::KernelFailure::index: return raddle_leaf_index_out_of_range;
    case vm::KernelFailure::domain: return raddle_leaf_domain_error;
    case vm::KernelFailure::extent:
    case vm::KernelFailure::assertion: return raddle_leaf_assertion;
    case vm::KernelFailure::memory: return raddle_leaf_recursion_too_deep;
  }
  return raddle_leaf_ok;
}

template <char letter>
auto typed(llvm::Value* value) {
  if constexpr (letter == 'i') return KernelIr::Int(value);
  if constexpr (letter == 'f') return KernelIr::Float(value);
  if constexpr (letter == 'n') return KernelIr::Int(vm::math::ir_builder->CreateSExt(value, vm::math::ir_word));
  if constexpr (letter == 'g') return KernelIr::Float(vm::math::ir_builder->CreateFPExt(value, vm::math::ir_number));
  if constexpr (letter == 'b') return KernelIr::Mask{value};
}

constexpr char letter(std::string_view inputs, std::size_t i) { return i < inputs.size() ? inputs[i] : ' '; }

/// An int32 or float32 is a register of half the width.
template <char letter>
llvm::Value* as_register(llvm::Value* value) {
  llvm::IRBuilder<>& builder = *vm::math::ir_builder;
  if constexpr (letter == 'n')
    return builder.CreateTrunc(value, value->getType()->getWithNewType(builder.getInt32Ty()));
  if constexpr (letter == 'g')
    return builder.CreateFPTrunc(value, value->getType()->getWithNewType(builder.getFloatTy()));
  return value;
}

/// @param compute  the operation of KernelOperations; of those that read arrays nothing
template <char first, char second, char third, char result>
llvm::Value* emit(const std::array<llvm::Value*, 3>& inputs, const auto& fail, const auto& compute) {
  const auto value_of = [&](const auto&... operands) -> llvm::Value* {
    if constexpr (std::is_void_v<decltype(compute(operands..., fail))>) {
      compute(operands..., fail);
      return nullptr;
    } else {
      return as_register<result>(compute(operands..., fail).value);
    }
  };
  if constexpr (first == 'x')
    return inputs[0];
  else if constexpr (first < 'a')
    std::unreachable();
  else if constexpr (second == ' ')
    return value_of(typed<first>(inputs[0]));
  else if constexpr (third == ' ')
    return value_of(typed<first>(inputs[0]), typed<second>(inputs[1]));
  else
    return value_of(typed<first>(inputs[0]), typed<second>(inputs[1]), typed<third>(inputs[2]));
}

}  // namespace

llvm::Value* OperationEmitter::splat(llvm::Value* value, llvm::Type* like) {
  const unsigned lanes = lanes_of(like);
  if (lanes == lanes_of(value->getType())) return value;
  if (const auto* wide = llvm::dyn_cast<llvm::FPExtInst>(value))  // widened by lanes it is folded into what is rounded
    return builder_.CreateFPExt(builder_.CreateVectorSplat(lanes, wide->getOperand(0)),
                                llvm::FixedVectorType::get(value->getType(), lanes));
  return builder_.CreateVectorSplat(lanes, value);
}

llvm::Value* OperationEmitter::emit_operation(const vm::KernelInstruction& instruction,
                                              std::span<llvm::Value* const> given) {
  llvm::Type* longest = given.front()->getType();
  for (llvm::Value* value : given)
    if (value->getType()->isVectorTy()) longest = value->getType();
  std::array<llvm::Value*, 3> inputs = {};
  for (std::size_t i = 0; i < given.size(); ++i) inputs.at(i) = splat(given[i], longest);
  const vm::math::IrScope scope(builder_, longest->getWithNewType(builder_.getDoubleTy()), converts_ints_);
  const auto fail = [&](const KernelIr::Mask& failed, vm::KernelFailure failure) {
    fail_if(failed.value, status_of(failure), instruction.place);
  };
  switch (instruction.op) {
#define RADDLE_KERNEL_OP(name, inputs_, result, failure)                             \
  case vm::KernelOp::name:                                                           \
    return emit<letter(inputs_, 0), letter(inputs_, 1), letter(inputs_, 2), result>( \
        inputs, fail, [](const auto&... operands) { return Operations::name(operands...); });
#include "vm/kernel/kernel_ops.def"
    default: std::unreachable();
  }
}

}  // namespace raddle::codegen
