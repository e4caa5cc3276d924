// Values of lanes: operations, elements of arrays, masks, joins.
#include "compiler/codegen/lane_emitter.hpp"
#include "compiler/codegen/operation_emitter.hpp"

namespace raddle::codegen {

using vm::KernelInstruction;
using vm::KernelOp;
using vm::KernelRegister;
using vm::KernelType;

llvm::BasicBlock* LaneEmitter::block(const char* name) {
  return llvm::BasicBlock::Create(builder_.getContext(), name, builder_.GetInsertBlock()->getParent());
}

LaneValue LaneEmitter::constant(KernelType type, std::int64_t bits) {
  if (type == KernelType::float_)
    return {{llvm::ConstantFP::get(builder_.getDoubleTy(), std::bit_cast<double>(bits))}, nullptr};
  if (type == KernelType::boolean) return {{builder_.getInt1(bits != 0)}, nullptr};
  return {{int_constant(bits)}, nullptr};
}

LaneParts LaneEmitter::vectors(const LaneValue& value) {
  if (!value.is_uniform()) return value.parts;
  return LaneParts(shape_.vector_count, builder_.CreateVectorSplat(shape_.vector_size, value.parts[0]));
}

LaneParts LaneEmitter::vectors_in(const LaneValue& value, llvm::BasicBlock* block) {
  const llvm::IRBuilder<>::InsertPointGuard guard(builder_);
  builder_.SetInsertPoint(block->getTerminator());
  return vectors(value);
}

LaneValue LaneEmitter::compute(Frame& frame, const KernelInstruction& instruction) {
  const std::size_t count = vm::info(instruction.op).inputs.size();
  const LaneValue& first = frame.values[instruction.inputs[0]];
  if (instruction.op == KernelOp::size) return {{first.length}, nullptr};
  if (instruction.op == KernelOp::copy) return first;
  if (vm::info(instruction.op).failure == vm::KernelFailure::index) return emit_get(frame, instruction);
  bool is_uniform = true;
  for (std::size_t i = 0; i < count; ++i) is_uniform = is_uniform && frame.values[instruction.inputs[i]].is_uniform();
  LaneValue value;
  for (part_ = 0; part_ < (is_uniform ? 1 : shape_.vector_count); ++part_) {
    llvm::SmallVector<llvm::Value*, 3> inputs;
    for (std::size_t i = 0; i < count; ++i) {
      const LaneValue& input = frame.values[instruction.inputs[i]];
      inputs.push_back(input.parts[input.is_uniform() ? 0 : part_]);
    }
    value.parts.push_back(emit_operation(instruction, inputs));
  }
  if (instruction.op == KernelOp::add_int || instruction.op == KernelOp::sub_int) {
    const LaneValue& second = frame.values[instruction.inputs[1]];
    value.is_counting = (first.is_counting && second.is_uniform()) ||
                        (instruction.op == KernelOp::add_int && first.is_uniform() && second.is_counting);
  }
  return value;
}

// ---- elements ----

LaneValue LaneEmitter::emit_get(Frame& frame, const KernelInstruction& instruction) {
  const LaneValue &array = frame.values[instruction.inputs[0]], &index = frame.values[instruction.inputs[1]];
  const bool is_boolean = instruction.op == KernelOp::get_boolean;
  llvm::Type* stored = instruction.op == KernelOp::get_float ? builder_.getDoubleTy()
                       : is_boolean                          ? builder_.getInt8Ty()
                                                             : builder_.getInt64Ty();
  LaneValue value;
  for (part_ = 0; part_ < index.parts.size(); ++part_) {
    llvm::Value* number = index.parts[part_];
    llvm::Value* is_inside = builder_.CreateICmpULT(number, splat(array.length, number->getType()));
    fail_if(builder_.CreateNot(is_inside), raddle_leaf_index_out_of_range, instruction.place);
    llvm::Value* element = index.is_uniform() ? get_uniform(array, number, stored, is_inside)
                                              : get_lanes(array, index, stored, is_inside);
    value.parts.push_back(is_boolean ? builder_.CreateIsNotNull(element) : element);
  }
  return value;
}

llvm::Value* LaneEmitter::get_uniform(const LaneValue& array, llvm::Value* index, llvm::Type* stored,
                                      llvm::Value* is_inside) {
  llvm::BasicBlock *before = builder_.GetInsertBlock(), *inside = block("inside"), *end = block("element");
  builder_.CreateCondBr(is_inside, inside, end);
  builder_.SetInsertPoint(inside);
  llvm::Value* element = builder_.CreateLoad(stored, builder_.CreateInBoundsGEP(stored, array.parts[0], index));
  builder_.CreateBr(end);
  builder_.SetInsertPoint(end);
  return phi(element, inside, llvm::Constant::getNullValue(stored), before);
}

/// Mostly elements that follow each other are loaded as one; whether they do is seen when it is run, as the step of
/// the launch may be any.
llvm::Value* LaneEmitter::get_lanes(const LaneValue& array, const LaneValue& index, llvm::Type* stored,
                                    llvm::Value* is_inside) {
  llvm::Value* numbers = index.parts[part_];
  llvm::Value* is_wanted = live_.empty() ? is_inside : builder_.CreateAnd(live_[part_], is_inside);
  llvm::Type* type = llvm::FixedVectorType::get(stored, shape_.vector_size);
  if (!index.is_counting) return get_scattered(array, numbers, type, is_wanted);
  llvm::Value* first = builder_.CreateExtractElement(numbers, std::uint64_t{0});
  llvm::Value* counted = builder_.CreateAdd(splat(first, numbers->getType()),
                                            builder_.CreateStepVector(numbers->getType()));
  llvm::Value* follow = builder_.CreateAnd(is_inside, builder_.CreateICmpEQ(numbers, counted));
  llvm::BasicBlock *at_once = block("at_once"), *scattered = block("scattered"), *end = block("elements");
  builder_.CreateCondBr(builder_.CreateAndReduce(follow), at_once, scattered,
                        llvm::MDBuilder(builder_.getContext()).createLikelyBranchWeights());
  builder_.SetInsertPoint(at_once);
  llvm::Value* address = builder_.CreateInBoundsGEP(stored, array.parts[0], first);
  const llvm::Align alignment(stored->getPrimitiveSizeInBits() / 8);
  llvm::Value* elements = builder_.CreateAlignedLoad(type, address, alignment);
  builder_.CreateBr(end);
  builder_.SetInsertPoint(scattered);
  llvm::Value* gathered = get_scattered(array, numbers, type, is_wanted);
  scattered = builder_.GetInsertBlock();
  builder_.CreateBr(end);
  builder_.SetInsertPoint(end);
  return phi(elements, at_once, gathered, scattered);
}

llvm::Value* LaneEmitter::get_scattered(const LaneValue& array, llvm::Value* numbers, llvm::Type* type,
                                        llvm::Value* is_wanted) {
  llvm::Type* stored = type->getScalarType();
  llvm::Value* addresses = builder_.CreateGEP(stored, array.parts[0], numbers);
  const llvm::Align alignment(stored->getPrimitiveSizeInBits() / 8);
  return builder_.CreateMaskedGather(type, addresses, alignment, is_wanted, llvm::Constant::getNullValue(type));
}

// ---- masks ----

LaneMask LaneEmitter::both(const LaneMask& mask, const LaneMask& other) {
  if (mask.empty()) return other;
  LaneMask result;
  for (std::size_t i = 0; i < mask.size(); ++i) result.push_back(builder_.CreateAnd(mask[i], other[i]));
  return result;
}

LaneMask LaneEmitter::without(const LaneMask& mask, const LaneMask& others) {
  if (others.empty()) return mask;
  LaneMask inverse;
  for (llvm::Value* other : others) inverse.push_back(builder_.CreateNot(other));
  return both(mask, inverse);
}

llvm::Value* LaneEmitter::any(const LaneMask& mask) {
  llvm::Value* all = mask[0];
  for (std::size_t i = 1; i < mask.size(); ++i) all = builder_.CreateOr(all, mask[i]);
  return builder_.CreateOrReduce(all);
}

// ---- joins ----

LaneValue LaneEmitter::select(const LaneParts& condition, const LaneValue& one, const LaneValue& other) {
  const LaneParts ones = vectors(one), others = vectors(other);
  LaneValue result;
  for (std::size_t i = 0; i < ones.size(); ++i)
    result.parts.push_back(builder_.CreateSelect(condition[i], ones[i], others[i]));
  return result;
}

LaneValue LaneEmitter::zero_like(const LaneValue& value) {
  LaneValue zero;
  for (llvm::Value* part : value.parts) zero.parts.push_back(llvm::Constant::getNullValue(part->getType()));
  return zero;
}

llvm::Value* LaneEmitter::phi(llvm::Value* one, llvm::BasicBlock* from_one, llvm::Value* other,
                              llvm::BasicBlock* from_other) {
  llvm::PHINode* made = builder_.CreatePHI(one->getType(), 2);
  made->addIncoming(one, from_one);
  made->addIncoming(other, from_other);
  return made;
}

/// Where both paths end.
LaneEmitter::Path LaneEmitter::join(const Path& one, const Path& other) {
  Path joined;
  const auto join_parts = [&](const LaneParts& ones, const LaneParts& others) {
    LaneParts parts;
    for (std::size_t i = 0; i < ones.size(); ++i) parts.push_back(phi(ones[i], one.end, others[i], other.end));
    return parts;
  };
  for (std::size_t i = 0; i < one.values.size(); ++i) {
    const LaneValue &first = one.values[i], &second = other.values[i];
    if (first.is_uniform() && second.is_uniform())
      joined.values.push_back({join_parts(first.parts, second.parts)});
    else
      joined.values.push_back({join_parts(vectors_in(first, one.end), vectors_in(second, other.end))});
  }
  if (!one.failed.empty() || !other.failed.empty())
    joined.failed = join_parts(one.failed.empty() ? lanes(false) : one.failed,
                               other.failed.empty() ? lanes(false) : other.failed);
  failed_ = joined.failed;
  joined.end = builder_.GetInsertBlock();
  return joined;
}

}  // namespace raddle::codegen
