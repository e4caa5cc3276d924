// Values of lanes: operations, masks, joins.
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
  if (instruction.op == KernelOp::mod && may_wrap(first, frame.values[instruction.inputs[1]]))
    return emit_wrapped(frame, instruction);
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
  find_distance(instruction, frame, value);
  return value;
}

/// Of a power of two LLVM takes the lowest bits.
bool LaneEmitter::may_wrap(const LaneValue& number, const LaneValue& divisor) {
  if (number.is_uniform() || !divisor.is_uniform()) return false;
  const auto* const constant = llvm::dyn_cast<llvm::ConstantInt>(divisor.parts[0]);
  return constant == nullptr || !constant->getValue().isPowerOf2();
}

/// The rest of a division by what is the same for all lanes. Mostly it wraps an index around the end of an array,
/// `x[(i + 1) %% n]`: where no lane is beyond twice the divisor it is the number itself, or less the divisor.
LaneValue LaneEmitter::emit_wrapped(Frame& frame, const KernelInstruction& instruction) {
  const LaneValue &number = frame.values[instruction.inputs[0]], &divisor = frame.values[instruction.inputs[1]];
  LaneParts rests;
  llvm::Value* are_rests = nullptr;
  for (llvm::Value* part : number.parts) {
    llvm::Value* by = splat(divisor.parts[0], part->getType());
    rests.push_back(wrapped_once(part, by));
    llvm::Value* is_rest = builder_.CreateICmpULT(rests.back(), by);
    are_rests = are_rests ? builder_.CreateAnd(are_rests, is_rest) : is_rest;
  }
  LaneValue value;
  value.parts = either_way(
      builder_.CreateAnd(wraps_once(divisor.parts[0]), builder_.CreateAndReduce(are_rests)), [&] { return rests; },
      [&] {
        LaneParts divided;
        for (part_ = 0; part_ < shape_.vector_count; ++part_)
          divided.push_back(emit_operation(instruction, {{number.parts[part_], divisor.parts[0]}}));
        return divided;
      });
  find_distance(instruction, frame, value);
  return value;
}

/// The number if it is less than the divisor, else what is left without it. That is the rest of a division if it is
/// less than the divisor, without a sign, and the divisor is none that wraps_once refuses.
llvm::Value* LaneEmitter::wrapped_once(llvm::Value* number, llvm::Value* divisor) {
  return builder_.CreateSelect(builder_.CreateICmpULT(number, divisor), number, builder_.CreateSub(number, divisor));
}

/// Twice the divisor is an int: what is below that, without a sign, is no number below zero.
llvm::Value* LaneEmitter::wraps_once(llvm::Value* divisor) {
  return builder_.CreateICmpULT(divisor, builder_.getInt64(std::uint64_t{1} << 62U));
}

/// Of a sum or difference, or of one that is wrapped around an end.
void LaneEmitter::find_distance(const KernelInstruction& instruction, const Frame& frame, LaneValue& value) {
  const auto sum = [&](const LaneValue& follower, const LaneValue& other, bool is_added) {
    if (!follower.distance || !other.is_uniform()) return false;
    value.distance = is_added ? builder_.CreateAdd(follower.distance, other.parts[0])
                              : builder_.CreateSub(follower.distance, other.parts[0]);
    value.follows = follower.follows;
    return true;
  };
  const LaneValue& left = frame.values[instruction.inputs[0]];
  switch (instruction.op) {
    case KernelOp::copy:
    case KernelOp::index:
      value.distance = left.distance;
      value.follows = left.follows;
      break;
    case KernelOp::add_int:
    case KernelOp::index_add: {
      const LaneValue& right = frame.values[instruction.inputs[1]];
      if (!sum(left, right, true)) sum(right, left, true);
      break;
    }
    case KernelOp::sub_int: sum(left, frame.values[instruction.inputs[1]], false); break;
    case KernelOp::mod: {
      const LaneValue& divisor = frame.values[instruction.inputs[1]];
      if (!left.distance || !divisor.is_uniform()) break;
      llvm::Value *by = divisor.parts[0], *first = builder_.CreateAdd(first_, left.distance);
      llvm::Value* rest = wrapped_once(first, by);
      llvm::Value* last = builder_.CreateAdd(rest, builder_.getInt64(shape_.lanes() - 1));
      llvm::Value* are_rests = builder_.CreateAnd(builder_.CreateICmpULT(rest, by), builder_.CreateICmpULT(last, by));
      are_rests = builder_.CreateAnd(wraps_once(by), are_rests);
      value.distance = builder_.CreateSub(rest, first_);
      value.follows = left.follows ? builder_.CreateAnd(left.follows, are_rests) : are_rests;
      break;
    }
    default: break;
  }
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

llvm::Value* LaneEmitter::all(const LaneMask& mask) {
  llvm::Value* all = mask[0];
  for (std::size_t i = 1; i < mask.size(); ++i) all = builder_.CreateAnd(all, mask[i]);
  return builder_.CreateAndReduce(condition(all));
}

// ---- joins ----

LaneValue LaneEmitter::select(const LaneParts& condition, const LaneValue& one, const LaneValue& other) {
  const LaneParts ones = vectors(one), others = vectors(other);
  LaneValue result;
  for (std::size_t i = 0; i < ones.size(); ++i)
    result.parts.push_back(builder_.CreateSelect(condition[i], ones[i], others[i]));
  return result;
}

/// Ints that follow the points in one arm or both do so behind them, too, if all lanes have taken the same one.
void LaneEmitter::join_distances(const LaneParts& condition, const LaneValue& one, const LaneValue& other,
                                 LaneValue& joined) {
  if (!one.distance && !other.distance) return;
  llvm::Value *take_one = nullptr, *take_other = nullptr;
  for (llvm::Value* part : condition) {
    take_one = take_one ? builder_.CreateAnd(take_one, part) : part;
    take_other = take_other ? builder_.CreateOr(take_other, part) : part;
  }
  const auto if_followed = [&](const LaneValue& value, llvm::Value* taken) -> llvm::Value* {
    if (!value.distance) return builder_.getFalse();
    return value.follows ? builder_.CreateAnd(taken, value.follows) : taken;
  };
  llvm::Value* all_one = if_followed(one, builder_.CreateAndReduce(take_one));
  llvm::Value* all_other = if_followed(other, builder_.CreateNot(builder_.CreateOrReduce(take_other)));
  joined.distance = !one.distance     ? other.distance
                    : !other.distance ? one.distance
                                      : builder_.CreateSelect(all_one, one.distance, other.distance);
  joined.follows = builder_.CreateOr(all_one, all_other);
}

LaneValue LaneEmitter::zero_like(const LaneValue& value) {
  LaneValue zero;
  if (value.distance) zero.distance = builder_.getInt64(0);
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
    LaneValue value;
    if (first.is_uniform() && second.is_uniform())
      value.parts = join_parts(first.parts, second.parts);
    else
      value.parts = join_parts(vectors_in(first, one.end), vectors_in(second, other.end));
    if (first.distance || second.distance) {
      const auto distance = [&](const LaneValue& of) { return of.distance ? of.distance : builder_.getInt64(0); };
      const auto follows = [&](const LaneValue& of) {
        return of.distance && of.follows ? of.follows : builder_.getInt1(of.distance != nullptr);
      };
      value.distance = phi(distance(first), one.end, distance(second), other.end);
      if (first.follows || second.follows || !first.distance || !second.distance)
        value.follows = phi(follows(first), one.end, follows(second), other.end);
    }
    joined.values.push_back(std::move(value));
  }
  if (!one.failed.empty() || !other.failed.empty())
    joined.failed =
        join_parts(one.failed.empty() ? lanes(false) : one.failed, other.failed.empty() ? lanes(false) : other.failed);
  failed_ = joined.failed;
  joined.end = builder_.GetInsertBlock();
  return joined;
}

}  // namespace raddle::codegen
