// Elements of arrays that lanes read.
//
// Note [elements that follow each other]. An index is mostly the point and something that is the same for all lanes
// (LaneValue::distance). Then lanes read elements that follow each other, as long as all of them take the same way and
// all elements are there. What reads several such is emitted twice: for lanes of which all do so, where nothing but
// loads of vectors is left, and for others: at the borders of an array, say, where a load has a mask, or of a loop with
// another step. Which one is taken is seen when it is run, for all elements of a block of instructions at once: what
// their indices are made of is computed before it (foresee), and of all distances from the point that an array is read
// at the least and the greatest one are looked at, which are mostly the same in all of a loop.
#include <algorithm>

#include "compiler/codegen/lane_emitter.hpp"

namespace raddle::codegen {

using vm::Kernel;
using vm::KernelBlockId;
using vm::KernelInstruction;
using vm::KernelOp;
using vm::KernelRegister;

/// Distances from the point that an array is read at.
struct LaneEmitter::Window {
  llvm::Value *length, *least, *greatest;
};

struct LaneEmitter::Windows {
  llvm::SmallVector<Window, 4> of_arrays;
  llvm::SmallVector<llvm::Value*, 4> conditions;  ///< that have to hold besides
  std::set<const KernelInstruction*> reads;
};

namespace {

/// What indices and conditions are made of, and what is cheap enough to be computed before it is needed.
bool is_of_indices(KernelOp op) {
  switch (op) {
    case KernelOp::copy:
    case KernelOp::add_int:
    case KernelOp::sub_int:
    case KernelOp::mul_int:
    case KernelOp::mod:
    case KernelOp::index_add:
    case KernelOp::index_mul:
    case KernelOp::index:
    case KernelOp::max_int:
    case KernelOp::min_int:
    case KernelOp::eq_int:
    case KernelOp::ne_int:
    case KernelOp::lt_int:
    case KernelOp::le_int:
    case KernelOp::and_:
    case KernelOp::or_:
    case KernelOp::not_: return true;
    default: return false;
  }
}

}  // namespace

/// A block whose results alone are read behind it.
LaneEmitter::Path LaneEmitter::emit_versions(Frame& frame, KernelBlockId block,
                                             std::span<const KernelRegister> results) {
  constexpr std::size_t least_windows = 2, most_cost = 600;  // else it is not worth its compilation twice
  if (block == vm::no_kernel_part || is_any_ || module_.facts.cost(frame.kernel, block) > most_cost)
    return emit_path(frame, block, results);
  const Windows windows = find_windows(frame, block);
  if (windows.reads.size() < least_windows || windows.of_arrays.empty()) return emit_path(frame, block, results);
  llvm::BasicBlock *following = this->block("following"), *any = this->block("any"), *end = this->block("end");
  builder_.CreateCondBr(are_inside(windows), following, any,
                        llvm::MDBuilder(builder_.getContext()).createLikelyBranchWeights());
  const LaneMask failed = failed_;
  builder_.SetInsertPoint(following);
  sure_.insert(windows.reads.begin(), windows.reads.end());
  const Path one = emit_path(frame, block, results);
  for (const KernelInstruction* read : windows.reads) sure_.erase(read);
  builder_.CreateBr(end);
  failed_ = failed;
  builder_.SetInsertPoint(any);
  is_any_ = true;
  const Path other = emit_path(frame, block, results);
  is_any_ = false;
  builder_.CreateBr(end);
  builder_.SetInsertPoint(end);
  return join(one, other);
}

/// Of what the block itself reads, not its arms.
LaneEmitter::Windows LaneEmitter::find_windows(const Frame& frame, KernelBlockId block) {
  Windows windows;
  Frame foreseen = frame;
  may_foresee_ = 500;
  for (const KernelRegister id : assigned_in(frame.kernel, block)) foreseen.values[id] = {};  // of another version
  is_foreseeing_ = true;
  for (const KernelInstruction& read : frame.kernel.blocks[block]) {
    if (!vm::is_get(read.op) || !foreseen.values[read.inputs[0]].exists() ||
        !foresee(foreseen, {&block, 1}, read.inputs[1], Foreseen::distance))
      continue;
    const LaneValue &array = foreseen.values[read.inputs[0]], &index = foreseen.values[read.inputs[1]];
    if (index.is_uniform()) {
      windows.conditions.push_back(builder_.CreateICmpULT(index.parts[0], array.length));
    } else if (index.distance) {
      if (index.follows) windows.conditions.push_back(index.follows);
      auto* const window = std::ranges::find(windows.of_arrays, array.length, &Window::length);
      if (window == windows.of_arrays.end()) {
        windows.of_arrays.push_back({array.length, index.distance, index.distance});
      } else {
        window->least = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, window->least, index.distance);
        window->greatest = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, window->greatest, index.distance);
      }
    } else {
      continue;
    }
    windows.reads.insert(&read);
  }
  is_foreseeing_ = false;
  return windows;
}

/// Computes a register before its turn, if it is only made of indices.
/// @param blocks  the innermost one last  @param what  else its distance is enough, without the value of each lane
bool LaneEmitter::foresee(Frame& frame, Blocks blocks, KernelRegister id, Foreseen what) {
  if (const LaneValue& known = frame.values[id]; known.exists() || (known.distance && what == Foreseen::distance))
    return true;
  if (may_foresee_ == 0) return false;  // arms in arms would be computed again and again
  --may_foresee_;
  for (std::size_t depth = blocks.size(); depth > 0; --depth)
    for (const KernelInstruction& maker : frame.kernel.blocks[blocks[depth - 1]]) {
      const auto around = blocks.first(depth);
      if (maker.op == KernelOp::if_) {
        const vm::KernelBranch& branch = frame.kernel.branches[maker.index];
        if (assigned_in(frame.kernel, branch.then_block).contains(id))
          return foresee_joined(frame, around, maker, id, what);
      } else if (maker.result == id) {
        return foresee_result(frame, around, maker, what);
      }
    }
  return false;
}

bool LaneEmitter::foresee_result(Frame& frame, Blocks blocks, const KernelInstruction& maker, Foreseen what) {
  if (!is_of_indices(maker.op)) return false;
  const std::size_t count = vm::info(maker.op).inputs.size();
  const auto inputs = std::span(maker.inputs).first(count);
  const auto foresee_all = [&](Foreseen of_inputs) {
    return std::ranges::all_of(inputs, [&](KernelRegister id) { return foresee(frame, blocks, id, of_inputs); });
  };
  if (!foresee_all(what)) return false;
  if (what == Foreseen::lanes ||
      std::ranges::all_of(inputs, [&](KernelRegister id) { return frame.values[id].is_uniform(); })) {
    frame.values[maker.result] = compute(frame, maker);
    return true;
  }
  LaneValue value;
  find_distance(maker, frame, value);
  frame.values[maker.result] = value;
  return value.distance != nullptr;
}

/// What both arms of an `if` assign.
bool LaneEmitter::foresee_joined(Frame& frame, Blocks blocks, const KernelInstruction& branches, KernelRegister id,
                                 Foreseen what) {
  const vm::KernelBranch& branch = frame.kernel.branches[branches.index];
  if (branch.else_block == vm::no_kernel_part || !foresee(frame, blocks, branches.inputs[0], Foreseen::lanes))
    return false;
  const auto in_arm = [&](KernelBlockId arm, LaneValue& value) {
    Frame inside = frame;
    std::vector<KernelBlockId> all(blocks.begin(), blocks.end());
    all.push_back(arm);
    if (!foresee(inside, all, id, what)) return false;
    value = inside.values[id];
    return true;
  };
  LaneValue one, other, joined;
  if (!in_arm(branch.then_block, one) || !in_arm(branch.else_block, other)) return false;
  const LaneValue& condition = frame.values[branches.inputs[0]];
  if (condition.is_uniform() && one.is_uniform() && other.is_uniform())
    joined.parts = {builder_.CreateSelect(condition.parts[0], one.parts[0], other.parts[0])};
  else if (what == Foreseen::lanes)
    joined = select(vectors(condition), one, other);
  join_distances(vectors(condition), one, other, joined);
  frame.values[id] = joined;
  return joined.exists() || joined.distance;
}

/// Whether all lanes are to read, and find, elements that follow each other. No sum may overflow on the way: a window
/// that is not wider than the array begins and ends in it.
llvm::Value* LaneEmitter::are_inside(const Windows& windows) {
  llvm::Value* all = live_.empty() ? counts_ : builder_.CreateAnd(counts_, this->all(live_));
  const auto require = [&](llvm::Value* condition) { all = builder_.CreateAnd(all, condition); };
  for (llvm::Value* condition : windows.conditions) require(condition);
  for (const auto& [length, least, greatest] : windows.of_arrays) {
    llvm::Value* width = builder_.CreateSub(greatest, least);
    llvm::Value* begin = builder_.CreateAdd(first_, least);
    llvm::Value* last = builder_.CreateAdd(builder_.CreateAdd(first_, greatest), builder_.getInt64(shape_.lanes() - 1));
    require(builder_.CreateICmpULT(width, length));
    require(builder_.CreateICmpULT(begin, length));
    require(builder_.CreateICmpULT(last, length));
  }
  return all;
}

// ---- reads ----

LaneValue LaneEmitter::emit_get(Frame& frame, const KernelInstruction& instruction) {
  const LaneValue &array = frame.values[instruction.inputs[0]], &index = frame.values[instruction.inputs[1]];
  const bool is_boolean = instruction.op == KernelOp::get_boolean, is_sure = sure_.contains(&instruction);
  llvm::Type* stored = module_.stored_type(frame.kernel.types[instruction.result]);
  LaneValue value;
  if (index.is_uniform())
    value.parts = {is_sure ? load_uniform(array, index, stored) : get_uniform(array, index, stored, instruction.place)};
  else if (is_sure && index.distance)
    value.parts = load_following(array, index, stored);
  else if (!index.distance)
    value.parts = gather(array, index, stored, wanted(array, index, instruction.place));
  else
    value.parts = is_any_ ? get_any(array, index, stored, instruction.place)
                          : get_following(array, index, stored, instruction.place);
  if (is_boolean)
    for (llvm::Value*& part : value.parts) part = builder_.CreateIsNotNull(part);
  return value;
}

llvm::Value* LaneEmitter::load_uniform(const LaneValue& array, const LaneValue& index, llvm::Type* stored) {
  return builder_.CreateLoad(stored, builder_.CreateInBoundsGEP(stored, array.parts[0], index.parts[0]));
}

llvm::Value* LaneEmitter::get_uniform(const LaneValue& array, const LaneValue& index, llvm::Type* stored,
                                      const vm::Place& place) {
  llvm::Value* is_inside = builder_.CreateICmpULT(index.parts[0], array.length);
  fail_if(builder_.CreateNot(is_inside), raddle_leaf_index_out_of_range, place);
  llvm::BasicBlock *before = builder_.GetInsertBlock(), *inside = block("inside"), *end = block("element");
  builder_.CreateCondBr(is_inside, inside, end);
  builder_.SetInsertPoint(inside);
  llvm::Value* element = load_uniform(array, index, stored);
  builder_.CreateBr(end);
  builder_.SetInsertPoint(end);
  return phi(element, inside, llvm::Constant::getNullValue(stored), before);
}

llvm::Value* LaneEmitter::follows(const LaneValue& index) {
  return index.follows ? builder_.CreateAnd(counts_, index.follows) : counts_;
}

/// Of a vector's first element, which need not be there.
llvm::Value* LaneEmitter::address_of(const LaneValue& array, const LaneValue& index, llvm::Type* stored,
                                     std::size_t part) {
  llvm::Value* number =
      builder_.CreateAdd(builder_.CreateAdd(first_, index.distance), builder_.getInt64(part * shape_.vector_size));
  return builder_.CreateGEP(stored, array.parts[0], number);
}

LaneParts LaneEmitter::load_following(const LaneValue& array, const LaneValue& index, llvm::Type* stored) {
  llvm::Type* type = llvm::FixedVectorType::get(stored, shape_.vector_size);
  const llvm::Align alignment(stored->getPrimitiveSizeInBits() / 8);
  LaneParts elements;
  for (std::size_t part = 0; part < shape_.vector_count; ++part)
    elements.push_back(builder_.CreateAlignedLoad(type, address_of(array, index, stored, part), alignment));
  return elements;
}

/// Which lanes have an element to read; others, if they are live, fail.
LaneParts LaneEmitter::wanted(const LaneValue& array, const LaneValue& index, const vm::Place& place) {
  LaneParts lanes;
  for (part_ = 0; part_ < index.parts.size(); ++part_) {
    llvm::Value* numbers = index.parts[part_];
    llvm::Value* is_wanted = builder_.CreateICmpULT(numbers, splat(array.length, numbers->getType()));
    fail_if(builder_.CreateNot(is_wanted), raddle_leaf_index_out_of_range, place);
    if (!live_.empty()) is_wanted = builder_.CreateAnd(condition(live_[part_]), is_wanted);
    lanes.push_back(is_wanted);
  }
  return lanes;
}

LaneParts LaneEmitter::gather(const LaneValue& array, const LaneValue& index, llvm::Type* stored,
                              const LaneParts& wanted) {
  llvm::Type* type = llvm::FixedVectorType::get(stored, shape_.vector_size);
  const llvm::Align alignment(stored->getPrimitiveSizeInBits() / 8);
  LaneParts elements;
  for (std::size_t part = 0; part < wanted.size(); ++part) {
    llvm::Value* addresses = builder_.CreateGEP(stored, array.parts[0], index.parts[part]);
    elements.push_back(
        builder_.CreateMaskedGather(type, addresses, alignment, wanted[part], llvm::Constant::getNullValue(type)));
  }
  return elements;
}

LaneParts LaneEmitter::either_way(llvm::Value* condition, const std::function<LaneParts()>& one,
                                  const std::function<LaneParts()>& other) {
  llvm::BasicBlock *at_once = block("at_once"), *scattered = block("scattered"), *end = block("elements");
  builder_.CreateCondBr(condition, at_once, scattered,
                        llvm::MDBuilder(builder_.getContext()).createLikelyBranchWeights());
  builder_.SetInsertPoint(at_once);
  Path following{nullptr, {LaneValue()}, failed_};
  following.values[0].parts = one();
  following.end = builder_.GetInsertBlock();
  builder_.CreateBr(end);
  builder_.SetInsertPoint(scattered);
  Path others{nullptr, {LaneValue()}, {}};
  others.values[0].parts = other();
  others.failed = failed_;
  others.end = builder_.GetInsertBlock();
  builder_.CreateBr(end);
  builder_.SetInsertPoint(end);
  return join(following, others).values[0].parts;
}

/// Mostly all elements are there, and they are loaded as vectors.
LaneParts LaneEmitter::get_following(const LaneValue& array, const LaneValue& index, llvm::Type* stored,
                                     const vm::Place& place) {
  llvm::Value* first = builder_.CreateAdd(first_, index.distance);
  llvm::Value* last = builder_.CreateAdd(first, builder_.getInt64(shape_.lanes() - 1));
  const auto is_inside = [&](llvm::Value* number) { return builder_.CreateICmpULT(number, array.length); };
  return either_way(
      builder_.CreateAnd(follows(index), builder_.CreateAnd(is_inside(first), is_inside(last))),
      [&] { return load_following(array, index, stored); },
      [&] { return gather(array, index, stored, wanted(array, index, place)); });
}

/// Mostly some are not there, or not asked for, but the others still follow each other.
LaneParts LaneEmitter::get_any(const LaneValue& array, const LaneValue& index, llvm::Type* stored,
                               const vm::Place& place) {
  const LaneParts wanted_lanes = wanted(array, index, place);
  llvm::Type* type = llvm::FixedVectorType::get(stored, shape_.vector_size);
  const llvm::Align alignment(stored->getPrimitiveSizeInBits() / 8);
  const auto load = [&] {
    LaneParts elements;
    for (std::size_t part = 0; part < wanted_lanes.size(); ++part)
      elements.push_back(builder_.CreateMaskedLoad(type, address_of(array, index, stored, part), alignment,
                                                   wanted_lanes[part], llvm::Constant::getNullValue(type)));
    return elements;
  };
  return either_way(follows(index), load, [&] { return gather(array, index, stored, wanted_lanes); });
}

}  // namespace raddle::codegen
