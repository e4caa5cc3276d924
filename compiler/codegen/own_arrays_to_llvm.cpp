// Arrays of a kernel's own, and what is done for each of their elements: Note [own arrays] in vm/kernel/kernel.hpp.
//
// Note [side by side]. LLVM makes vectors of a loop that nothing leaves before its end. So in an `each` what fails is
// noted, if what comes of it may be computed with nevertheless, and looked at behind the outermost `each`. And an index
// that is affine in the points is checked before it, at the corners of the space that they make, where it is largest
// and smallest. What is found wrong there may not be wrong in truth, where a point would have failed before for another
// reason; the call is interpreted in any case.
#include <algorithm>

#include "compiler/codegen/function_emitter.hpp"

namespace raddle::codegen {

using vm::KernelBlockId;
using vm::KernelEach;
using vm::KernelInstruction;
using vm::KernelOp;
using vm::KernelRegister;
using vm::KernelType;

/// It is there until the function returns: on the stack, or, where that has no room, in memory that the worker gives.
/// What is left of the stack is for what the function calls.
void FunctionEmitter::emit_new(const KernelInstruction& instruction) {
  constexpr std::uint64_t most_on_stack = 1 << 18, most_elements = 1 << 30, left_on_stack = 1 << 16, alignment = 64;
  constexpr std::uint64_t most_in_entry = 16;  ///< elements: LLVM makes registers of such arrays, if it can
  llvm::Value* count = word(instruction.inputs[0]);
  llvm::Type* const stored = module_.stored_type(kernel_.types[instruction.result]);
  if (const auto* const known = llvm::dyn_cast<llvm::ConstantInt>(count);
      known && known->getZExtValue() <= most_in_entry) {
    llvm::IRBuilder<> entry(&target_->getEntryBlock(), target_->getEntryBlock().begin());
    return assign(instruction.result,
                  {entry.CreateAlloca(llvm::ArrayType::get(stored, known->getZExtValue()), nullptr, "own"), count});
  }
  llvm::Type* pointer = builder_.getPtrTy();
  llvm::Value* are_few = builder_.CreateICmpULE(count, builder_.getInt64(most_on_stack));
  llvm::Value* bytes = builder_.CreateMul(count, builder_.getInt64(stored->getScalarSizeInBits() / 8));
  llvm::Value* here = builder_.CreateIntrinsic(llvm::Intrinsic::stacksave, {pointer}, {});
  llvm::Value* room = builder_.CreateSub(builder_.CreatePtrToInt(here, builder_.getInt64Ty()),
                                         builder_.CreateAdd(bytes, builder_.getInt64(left_on_stack)));
  llvm::Value* limit = builder_.CreatePtrToInt(module_.stack_limit(builder_, worker()), builder_.getInt64Ty());
  llvm::BasicBlock *on_stack = block("stack"), *elsewhere = block("elsewhere"), *made = block("made");
  builder_.CreateCondBr(builder_.CreateAnd(are_few, builder_.CreateICmpUGE(room, limit)), on_stack, elsewhere);
  builder_.SetInsertPoint(on_stack);
  llvm::AllocaInst* elements = builder_.CreateAlloca(stored, count, "own");
  elements->setAlignment(llvm::Align(alignment));
  builder_.CreateBr(made);
  builder_.SetInsertPoint(elsewhere);
  fail_if(builder_.CreateICmpUGT(count, builder_.getInt64(most_elements)), raddle_leaf_recursion_too_deep,
          instruction.place);
  llvm::Value* taken = take_room(bytes, instruction.place);
  llvm::BasicBlock* end = builder_.GetInsertBlock();
  builder_.CreateBr(made);
  builder_.SetInsertPoint(made);
  llvm::PHINode* either = builder_.CreatePHI(pointer, 2);
  either->addIncoming(elements, on_stack);
  either->addIncoming(taken, end);
  assign(instruction.result, {either, count});
}

/// Memory that the worker gives until the function returns.
llvm::Value* FunctionEmitter::take_room(llvm::Value* bytes, const vm::Place& place) {
  llvm::Type* pointer = builder_.getPtrTy();
  llvm::Value* take = builder_.CreateLoad(pointer, worker_field(offsetof(raddle_leaf_worker, take_room)));
  fail_if(builder_.CreateIsNull(take), raddle_leaf_recursion_too_deep, place);
  llvm::FunctionType* type = llvm::FunctionType::get(pointer, {pointer, builder_.getInt64Ty()}, false);
  llvm::CallInst* taken = builder_.CreateCall(type, take, {worker(), bytes});
  taken->addRetAttr(llvm::Attribute::NoAlias);
  fail_if(builder_.CreateIsNull(taken), raddle_leaf_recursion_too_deep, place);
  return taken;
}

/// What the worker has given before this function was called, which has such arrays itself.
void FunctionEmitter::note_rooms() {
  const auto has_new = [](const auto& block) {
    return std::ranges::any_of(block, [](const KernelInstruction& each) { return vm::is_new(each.op); });
  };
  if (module_.has_worker() && std::ranges::any_of(kernel_.blocks, has_new))
    rooms_ = builder_.CreateLoad(builder_.getPtrTy(), worker_field(offsetof(raddle_leaf_worker, rooms)));
}

/// Before the function returns.
void FunctionEmitter::leave_rooms() {
  if (rooms_ == nullptr) return;
  llvm::Type* pointer = builder_.getPtrTy();
  llvm::Value* newest = builder_.CreateLoad(pointer, worker_field(offsetof(raddle_leaf_worker, rooms)));
  llvm::BasicBlock *leaves = block("leaves"), *goes_on = block("");
  builder_.CreateCondBr(builder_.CreateICmpEQ(newest, rooms_), goes_on, leaves);
  builder_.SetInsertPoint(leaves);
  llvm::Value* leave = builder_.CreateLoad(pointer, worker_field(offsetof(raddle_leaf_worker, leave_rooms)));
  llvm::FunctionType* type = llvm::FunctionType::get(builder_.getVoidTy(), {pointer, pointer}, false);
  builder_.CreateCall(type, leave, {worker(), rooms_});
  builder_.CreateBr(goes_on);
  builder_.SetInsertPoint(goes_on);
}

void FunctionEmitter::emit_put(const KernelInstruction& instruction) {
  llvm::Value* value = word(instruction.inputs[2]);
  if (instruction.op == KernelOp::put_boolean) value = builder_.CreateZExt(value, builder_.getInt8Ty());
  builder_.CreateStore(value, element_address(instruction, value->getType()));
}

void FunctionEmitter::emit_first(const KernelInstruction& instruction) {
  const LeafValue array = read(instruction.inputs[0]);
  llvm::Value* count = word(instruction.inputs[1]);
  llvm::Value* const detail[] = {count, builder_.CreatePtrToInt(array.word, builder_.getInt64Ty())};
  fail_if(builder_.CreateICmpUGT(count, array.length), raddle_leaf_index_out_of_range, instruction.place, detail);
  assign(instruction.result, {array.word, count});
}

/// What is computed with its result means nothing, but does no harm.
bool FunctionEmitter::may_defer(const KernelInstruction& instruction) const {
  const vm::KernelOpInfo& about = vm::info(instruction.op);
  return deferred_ != nullptr && (about.failure == vm::KernelFailure::overflow ||
                                  (about.failure == vm::KernelFailure::domain && about.result != 'i'));
}

void FunctionEmitter::emit_each(const KernelInstruction& instruction) {
  const KernelEach& each = kernel_.eaches[instruction.index];
  const bool is_outermost = deferred_ == nullptr;
  if (is_outermost) {
    check_interrupt(instruction.place);
    check_indices(instruction);
    llvm::IRBuilder<> entry(&target_->getEntryBlock(), target_->getEntryBlock().begin());
    deferred_ = entry.CreateAlloca(entry.getInt1Ty(), nullptr, "deferred");
    builder_.CreateStore(builder_.getFalse(), deferred_);
  }
  llvm::Value* count = word(each.count);
  llvm::BasicBlock *before = builder_.GetInsertBlock(), *head = block("each"), *body = block("point"),
                   *end = llvm::BasicBlock::Create(module_.llvm_context, "all");
  builder_.CreateBr(head);
  builder_.SetInsertPoint(head);
  llvm::PHINode* point = builder_.CreatePHI(builder_.getInt64Ty(), 2, "point");
  point->addIncoming(int_constant(0), before);
  builder_.CreateCondBr(builder_.CreateICmpSLT(point, count), body, end);
  builder_.SetInsertPoint(body);
  assign(each.point, {point, nullptr});
  emit_block(each.block, /*is_tail=*/false);
  point->addIncoming(builder_.CreateNSWAdd(point, int_constant(1)), builder_.GetInsertBlock());
  builder_.CreateBr(head);
  end->insertInto(target_);
  builder_.SetInsertPoint(end);
  if (!is_outermost) return;
  llvm::Value* has_failed = builder_.CreateLoad(builder_.getInt1Ty(), deferred_);
  deferred_ = nullptr;
  fail_if(has_failed, raddle_leaf_domain_error, instruction.place);
}

// ---------------------------------------------------------------- indices

/// Before the outermost `each`: of accesses to elements in all of its points whether their indices are well.
void FunctionEmitter::check_indices(const KernelInstruction& each) {
  made_in_each_.clear();
  points_.clear();
  const KernelEach& outermost = kernel_.eaches[each.index];
  points_[outermost.point] = word(outermost.count);
  around_ = {outermost.point};
  // registers that it assigns, but not by what can be followed
  visit_blocks(kernel_, outermost.block, [&](KernelBlockId inner) {
    for (const KernelInstruction& instruction : kernel_.blocks[inner])
      for (const KernelRegister result : results_of(kernel_, instruction)) made_in_each_[result] = nullptr;
  });
  find_sure_indices(outermost.block);
}

/// Blocks that all points run through.
void FunctionEmitter::find_sure_indices(KernelBlockId block) {
  for (const KernelInstruction& instruction : kernel_.blocks[block]) {
    switch (instruction.op) {
      case KernelOp::copy:
      case KernelOp::add_int:
      case KernelOp::index_add:
      case KernelOp::index_mul:
      case KernelOp::sub_int:
      case KernelOp::mul_int: made_in_each_[instruction.result] = &instruction; break;
      case KernelOp::each: {
        const KernelEach& inner = kernel_.eaches[instruction.index];
        if (made_in_each_.contains(inner.count)) break;
        points_[inner.point] = word(inner.count);
        around_.push_back(inner.point);
        find_sure_indices(inner.block);
        around_.pop_back();
        break;
      }
      default:
        if ((vm::is_get(instruction.op) || vm::is_put(instruction.op)) &&
            !made_in_each_.contains(instruction.inputs[0]) && is_affine(instruction.inputs[1]))
          check_index(instruction);
        break;
    }
  }
}

/// In the points, with coefficients that are the same for all of them.
bool FunctionEmitter::is_affine(KernelRegister id) const {
  if (points_.contains(id)) return true;
  const auto found = made_in_each_.find(id);
  if (found == made_in_each_.end()) return true;
  if (!found->second) return false;
  const KernelInstruction& made = *found->second;
  if (made.op == KernelOp::copy) return kernel_.types[id] == KernelType::int_ && is_affine(made.inputs[0]);
  if (!is_affine(made.inputs[0]) || !is_affine(made.inputs[1])) return false;
  if (made.op != KernelOp::mul_int && made.op != KernelOp::index_mul) return true;
  std::set<KernelRegister> of_first, of_second;
  find_points(made.inputs[0], of_first);
  find_points(made.inputs[1], of_second);
  return of_first.empty() || of_second.empty();
}

/// On which points an affine register depends.
void FunctionEmitter::find_points(KernelRegister id, std::set<KernelRegister>& points) const {
  if (points_.contains(id)) {
    points.insert(id);
  } else if (const auto found = made_in_each_.find(id); found != made_in_each_.end()) {
    const KernelInstruction& made = *found->second;
    for (std::size_t i = 0; i < vm::info(made.op).inputs.size(); ++i) find_points(made.inputs[i], points);
  }
}

FunctionEmitter::CornerValue FunctionEmitter::value_at(KernelRegister id,
                                                       const std::map<KernelRegister, llvm::Value*>& corner) {
  if (const auto point = corner.find(id); point != corner.end()) return {point->second, builder_.getFalse()};
  const auto found = made_in_each_.find(id);
  if (found == made_in_each_.end()) return {word(id), builder_.getFalse()};
  const KernelInstruction& made = *found->second;
  if (made.op == KernelOp::copy) return value_at(made.inputs[0], corner);
  const CornerValue first = value_at(made.inputs[0], corner), second = value_at(made.inputs[1], corner);
  const bool is_sum = made.op == KernelOp::add_int || made.op == KernelOp::index_add;
  const llvm::Intrinsic::ID operation = is_sum                         ? llvm::Intrinsic::sadd_with_overflow
                                        : made.op == KernelOp::sub_int ? llvm::Intrinsic::ssub_with_overflow
                                                                       : llvm::Intrinsic::smul_with_overflow;
  llvm::Value* both = builder_.CreateBinaryIntrinsic(operation, first.value, second.value);
  return {builder_.CreateExtractValue(both, 0), builder_.CreateOr(builder_.CreateOr(first.overflows, second.overflows),
                                                                  builder_.CreateExtractValue(both, 1))};
}

/// Leaves the function if some point's index is of no element. Where there is no point, none is looked at.
void FunctionEmitter::check_index(const KernelInstruction& access) {
  constexpr std::size_t most_points = 4;
  std::set<KernelRegister> points;
  find_points(access.inputs[1], points);
  if (points.size() > most_points) return;
  llvm::Value* is_wrong = builder_.getFalse();
  for (std::size_t which = 0; which < std::size_t{1} << points.size(); ++which) {
    std::map<KernelRegister, llvm::Value*> corner;
    for (std::size_t rest = which; const KernelRegister point : points) {
      corner[point] = rest % 2 == 0 ? int_constant(0) : builder_.CreateSub(points_.at(point), int_constant(1));
      rest /= 2;
    }
    const CornerValue index = value_at(access.inputs[1], corner);
    llvm::Value* is_outside = builder_.CreateICmpUGE(index.value, read(access.inputs[0]).length);
    is_wrong = builder_.CreateOr(is_wrong, builder_.CreateOr(index.overflows, is_outside));
  }
  for (const KernelRegister point : around_)
    is_wrong = builder_.CreateAnd(is_wrong, builder_.CreateICmpSGT(points_.at(point), int_constant(0)));
  fail_if(is_wrong, raddle_leaf_index_out_of_range, access.place);
  sure_indices_.insert(&access);
}

}  // namespace raddle::codegen
