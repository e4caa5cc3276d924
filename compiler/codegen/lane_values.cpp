// Values of lanes: operations, elements of arrays, masks, joins.
#include <bit>

#include "compiler/codegen/lane_emitter.hpp"

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
  if (instruction.op == KernelOp::add_int || instruction.op == KernelOp::sub_int)
    value.first = first_of(instruction.op, first, frame.values[instruction.inputs[1]]);
  return value;
}

/// Of a sum or difference.
llvm::Value* LaneEmitter::first_of(KernelOp op, const LaneValue& left, const LaneValue& right) {
  if (left.first && right.is_uniform())
    return op == KernelOp::add_int ? builder_.CreateAdd(left.first, right.parts[0])
                                   : builder_.CreateSub(left.first, right.parts[0]);
  if (op == KernelOp::add_int && left.is_uniform() && right.first)
    return builder_.CreateAdd(left.parts[0], right.first);
  return nullptr;
}

// ---- elements ----

LaneValue LaneEmitter::emit_get(Frame& frame, const KernelInstruction& instruction) {
  const LaneValue &array = frame.values[instruction.inputs[0]], &index = frame.values[instruction.inputs[1]];
  const bool is_boolean = instruction.op == KernelOp::get_boolean;
  llvm::Type* stored = module_.stored_type(frame.kernel.types[instruction.result]);
  LaneValue value;
  if (index.is_uniform())
    value.parts = {get_uniform(array, index.parts[0], stored, instruction.place)};
  else if (index.first)
    value.parts = get_following(array, index, stored, instruction.place);
  else
    value.parts = get_scattered(array, index, stored, instruction.place);
  if (is_boolean)
    for (llvm::Value*& part : value.parts) part = builder_.CreateIsNotNull(part);
  return value;
}

llvm::Value* LaneEmitter::get_uniform(const LaneValue& array, llvm::Value* index, llvm::Type* stored,
                                      const vm::Place& place) {
  llvm::Value* is_inside = builder_.CreateICmpULT(index, array.length);
  fail_if(builder_.CreateNot(is_inside), raddle_leaf_index_out_of_range, place);
  llvm::BasicBlock *before = builder_.GetInsertBlock(), *inside = block("inside"), *end = block("element");
  builder_.CreateCondBr(is_inside, inside, end);
  builder_.SetInsertPoint(inside);
  llvm::Value* element = builder_.CreateLoad(stored, builder_.CreateInBoundsGEP(stored, array.parts[0], index));
  builder_.CreateBr(end);
  builder_.SetInsertPoint(end);
  return phi(element, inside, llvm::Constant::getNullValue(stored), before);
}

/// Mostly elements follow each other, all are there, and they are loaded as vectors. That is seen when it is run, as
/// the step of the launch may be any.
LaneParts LaneEmitter::get_following(const LaneValue& array, const LaneValue& index, llvm::Type* stored,
                                     const vm::Place& place) {
  const auto is_inside = [&](llvm::Value* number) { return builder_.CreateICmpULT(number, array.length); };
  llvm::Value* last = builder_.CreateAdd(index.first, builder_.getInt64(shape_.lanes() - 1));
  llvm::Value* are_inside = builder_.CreateAnd(is_inside(index.first), is_inside(last));
  llvm::BasicBlock *at_once = block("at_once"), *scattered = block("scattered"), *end = block("elements");
  builder_.CreateCondBr(builder_.CreateAnd(counts_, are_inside), at_once, scattered,
                        llvm::MDBuilder(builder_.getContext()).createLikelyBranchWeights());
  builder_.SetInsertPoint(at_once);
  Path following{at_once, {LaneValue()}, failed_};
  llvm::Type* type = llvm::FixedVectorType::get(stored, shape_.vector_size);
  const llvm::Align alignment(stored->getPrimitiveSizeInBits() / 8);
  for (unsigned i = 0; i < shape_.vector_count; ++i) {
    llvm::Value* number = builder_.CreateAdd(index.first, builder_.getInt64(std::uint64_t{i} * shape_.vector_size));
    llvm::Value* address = builder_.CreateInBoundsGEP(stored, array.parts[0], number);
    following.values[0].parts.push_back(builder_.CreateAlignedLoad(type, address, alignment));
  }
  builder_.CreateBr(end);
  builder_.SetInsertPoint(scattered);
  Path others{nullptr, {LaneValue{get_scattered(array, index, stored, place)}}, failed_};
  others.end = builder_.GetInsertBlock();
  builder_.CreateBr(end);
  builder_.SetInsertPoint(end);
  return join(following, others).values[0].parts;
}

LaneParts LaneEmitter::get_scattered(const LaneValue& array, const LaneValue& index, llvm::Type* stored,
                                     const vm::Place& place) {
  llvm::Type* type = llvm::FixedVectorType::get(stored, shape_.vector_size);
  const llvm::Align alignment(stored->getPrimitiveSizeInBits() / 8);
  LaneParts elements;
  for (part_ = 0; part_ < index.parts.size(); ++part_) {
    llvm::Value* numbers = index.parts[part_];
    llvm::Value* is_wanted = builder_.CreateICmpULT(numbers, splat(array.length, numbers->getType()));
    fail_if(builder_.CreateNot(is_wanted), raddle_leaf_index_out_of_range, place);
    if (!live_.empty()) is_wanted = builder_.CreateAnd(condition(live_[part_]), is_wanted);
    llvm::Value* addresses = builder_.CreateGEP(stored, array.parts[0], numbers);
    elements.push_back(
        builder_.CreateMaskedGather(type, addresses, alignment, is_wanted, llvm::Constant::getNullValue(type)));
  }
  return elements;
}

// ---- masks ----

LaneMask LaneEmitter::mask(const LaneParts& conditions) {
  LaneMask masks;
  for (llvm::Value* each : conditions) masks.push_back(mask(each));
  return masks;
}

LaneParts LaneEmitter::conditions(const LaneMask& mask) {
  LaneParts all;
  for (llvm::Value* part : mask) all.push_back(condition(part));
  return all;
}

/// What chooses lanes looks at their highest bit.
llvm::Value* LaneEmitter::condition(llvm::Value* mask) {
  if (shape_.mask_bits == 1) return mask;
  return builder_.CreateICmpSLT(mask, llvm::Constant::getNullValue(mask->getType()));
}

LaneMask LaneEmitter::both(const LaneMask& mask, const LaneMask& other) {
  if (mask.empty()) return other;
  LaneMask result;
  for (std::size_t i = 0; i < mask.size(); ++i) result.push_back(builder_.CreateAnd(mask[i], other[i]));
  return result;
}

LaneMask LaneEmitter::either(const LaneMask& mask, const LaneMask& other) {
  if (mask.empty() || other.empty()) return mask.empty() ? other : mask;
  LaneMask result;
  for (std::size_t i = 0; i < mask.size(); ++i) result.push_back(builder_.CreateOr(mask[i], other[i]));
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
  return builder_.CreateOrReduce(condition(all));
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
    joined.failed =
        join_parts(one.failed.empty() ? lanes(false) : one.failed, other.failed.empty() ? lanes(false) : other.failed);
  failed_ = joined.failed;
  joined.end = builder_.GetInsertBlock();
  return joined;
}

}  // namespace raddle::codegen
