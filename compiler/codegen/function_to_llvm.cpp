// The function as a whole, its registers, control flow.
#include <algorithm>
#include <bit>

#include "compiler/codegen/function_emitter.hpp"

namespace raddle::codegen {

using vm::KernelBlockId;
using vm::KernelInstruction;
using vm::KernelOp;
using vm::KernelRegister;
using vm::KernelType;
using vm::Place;

// ---- the frame, failures ----

void FunctionEmitter::emit() {
  declare_registers();
  auto* argument = target_->arg_begin();
  ++argument;  // the context
  for (KernelRegister parameter = 0; parameter < kernel_.parameter_count; ++parameter) {
    LeafValue value{argument++, nullptr};
    if (slots_[parameter].length) value.length = argument++;
    assign(parameter, value);
  }
  if (level_ == 0 && module_.facts.is_recursive(id_)) check_stack();
  note_rooms();
  may_fork_ = !module_.is_for_device() && level_ == 0 && !has_tail_call(0);
  emit_block(0, /*is_tail=*/true);
  std::vector<llvm::Value*> results;
  for (const KernelRegister output : kernel_.outputs) results.push_back(word(output));
  emit_return(builder_.getInt32(raddle_leaf_ok), results);
}

/// Slots start as zero, not undefined: a kernel that is not verified gives wrong numbers then, but no undefined
/// behaviour.
void FunctionEmitter::declare_registers() {
  for (KernelRegister id = 0; id < kernel_.types.size(); ++id) {
    LeafValue& slot = slots_.emplace_back();
    if (kernel_.is_constant(id)) continue;
    llvm::Type* type = module_.type(kernel_.types[id]);
    slot.word = builder_.CreateAlloca(type);
    builder_.CreateStore(llvm::Constant::getNullValue(type), slot.word);
    if (!is_array(kernel_.types[id])) continue;
    slot.length = builder_.CreateAlloca(builder_.getInt64Ty());
    builder_.CreateStore(int_constant(0), slot.length);
  }
}

void FunctionEmitter::check_stack() {
  llvm::Type* pointer = builder_.getPtrTy();
  llvm::Value* here = builder_.CreateIntrinsic(llvm::Intrinsic::addressofreturnaddress, {pointer}, {});
  fail_if(builder_.CreateICmpULT(here, module_.stack_limit(builder_, worker())), raddle_leaf_recursion_too_deep,
          kernel_.place);
}

/// Leaves the function if the run is to end.
void FunctionEmitter::check_interrupt(const Place& place) {
  if (!module_.has_worker()) return;
  fail_if(module_.is_interrupted(builder_, worker()), raddle_leaf_interrupted, place);
}

void FunctionEmitter::emit_return(llvm::Value* status, std::span<llvm::Value* const> results) {
  leave_rooms();
  llvm::Value* all = llvm::PoisonValue::get(target_->getReturnType());
  all = builder_.CreateInsertValue(all, status, 0);
  for (unsigned i = 0; i < results.size(); ++i) all = builder_.CreateInsertValue(all, results[i], i + 1);
  builder_.CreateRet(all);
}

void FunctionEmitter::fail_if(llvm::Value* failed, std::int32_t status, const Place& place,
                              std::span<llvm::Value* const> detail) {
  if (defers_) {
    llvm::Value* before = builder_.CreateLoad(builder_.getInt1Ty(), deferred_);
    builder_.CreateStore(builder_.CreateOr(before, failed), deferred_);
    return;
  }
  llvm::BasicBlock* fails = block("fails");
  llvm::BasicBlock* goes_on = block("");
  builder_.CreateCondBr(failed, fails, goes_on, llvm::MDBuilder(module_.llvm_context).createUnlikelyBranchWeights());
  builder_.SetInsertPoint(fails);
  if (!module_.is_for_device()) note_failure(place, detail);
  emit_return(builder_.getInt32(static_cast<std::uint32_t>(status)), {});
  builder_.SetInsertPoint(goes_on);
}

void FunctionEmitter::note_failure(const Place& place, std::span<llvm::Value* const> detail) {
  llvm::Value* failure = builder_.CreateLoad(
      builder_.getPtrTy(), builder_.CreateStructGEP(module_.context_type(), target_->getArg(0), context_failure));
  const auto store = [&](llvm::Value* value, std::size_t offset) {
    builder_.CreateStore(value, builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), failure, offset));
  };
  store_place(builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), failure, offsetof(raddle_leaf_failure, place)),
              place);
  for (std::size_t i = 0; i < detail.size(); ++i) {
    store(detail[i], offsetof(raddle_leaf_failure, detail) + i * sizeof(std::int64_t));
  }
}

void FunctionEmitter::store_place(llvm::Value* address, const Place& place) {
  const std::uint32_t words[] = {place.file, place.begin, place.end};
  for (unsigned i = 0; i < std::size(words); ++i) {
    builder_.CreateStore(builder_.getInt32(words[i]),
                         builder_.CreateConstInBoundsGEP1_64(builder_.getInt32Ty(), address, i));
  }
}

/// Adds a call to the chain of those that led to the failure.
void FunctionEmitter::note_call(const Place& place) {
  if (module_.is_for_device()) return;
  llvm::Type* byte = builder_.getInt8Ty();
  llvm::Value* failure = builder_.CreateLoad(
      builder_.getPtrTy(), builder_.CreateStructGEP(module_.context_type(), target_->getArg(0), context_failure));
  llvm::Value* count_address =
      builder_.CreateConstInBoundsGEP1_64(byte, failure, offsetof(raddle_leaf_failure, call_count));
  llvm::Value* count = builder_.CreateLoad(builder_.getInt32Ty(), count_address);
  llvm::Value* position =
      builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, count, builder_.getInt32(raddle_leaf_call_limit));
  llvm::Value* offset = builder_.CreateMul(builder_.CreateZExt(position, builder_.getInt64Ty()),
                                           builder_.getInt64(sizeof(raddle_leaf_place)));
  llvm::Value* first = builder_.CreateConstInBoundsGEP1_64(byte, failure, offsetof(raddle_leaf_failure, calls));
  store_place(builder_.CreateInBoundsGEP(byte, first, offset), place);
  builder_.CreateStore(builder_.CreateAdd(count, builder_.getInt32(1)), count_address);
}

// ---- registers ----

LeafValue FunctionEmitter::read(KernelRegister id) {
  if (kernel_.is_constant(id)) {
    const std::int64_t bits = kernel_.constant(id);
    if (kernel_.types[id] == KernelType::float_)
      return {llvm::ConstantFP::get(builder_.getDoubleTy(), std::bit_cast<double>(bits)), nullptr};
    return {kernel_.types[id] == KernelType::boolean ? builder_.getInt1(bits != 0) : int_constant(bits), nullptr};
  }
  const LeafValue slot = slots_[id];
  LeafValue value{builder_.CreateLoad(llvm::cast<llvm::AllocaInst>(slot.word)->getAllocatedType(), slot.word), nullptr};
  if (slot.length) value.length = builder_.CreateLoad(builder_.getInt64Ty(), slot.length);
  return value;
}

void FunctionEmitter::assign(KernelRegister id, LeafValue value) {
  const LeafValue slot = slots_[id];
  builder_.CreateStore(value.word, slot.word);
  if (slot.length) builder_.CreateStore(value.length, slot.length);
}

// ---- blocks ----

void FunctionEmitter::emit_block(KernelBlockId block, bool is_tail) {
  if (block == vm::no_kernel_part) return;
  const Instructions instructions = kernel_.blocks[block];
  for (std::size_t i = 0; i < instructions.size();) {
    const std::size_t at_once = calls_at_once(instructions.subspan(i));
    if (at_once > 1)
      emit_calls_at_once(instructions.subspan(i, at_once));
    else
      emit_instruction(instructions[i], is_tail && i + 1 == instructions.size());
    i += std::max<std::size_t>(at_once, 1);
  }
}

void FunctionEmitter::emit_instruction(const KernelInstruction& instruction, bool is_tail) {
  switch (instruction.op) {
    case KernelOp::if_: return emit_if(instruction, is_tail);
    case KernelOp::loop: return emit_loop(instruction);
    case KernelOp::call: return emit_call(instruction, is_tail);
    case KernelOp::reduce: return emit_reduction(instruction);
    case KernelOp::foreign: return emit_foreign_call(instruction);
    case KernelOp::each: return emit_each(instruction);
    case KernelOp::first: return emit_first(instruction);
    case KernelOp::size: return assign(instruction.result, {read(instruction.inputs[0]).length, nullptr});
    default: break;
  }
  if (vm::is_new(instruction.op)) return emit_new(instruction);
  if (vm::is_put(instruction.op)) return emit_put(instruction);
  if (vm::is_get(instruction.op)) return emit_get(instruction);
  llvm::SmallVector<llvm::Value*, 3> inputs;
  for (std::size_t i = 0; i < vm::info(instruction.op).inputs.size(); ++i)
    inputs.push_back(word(instruction.inputs[i]));
  defers_ = may_defer(instruction);
  llvm::Value* value = emit_operation(instruction, inputs);
  defers_ = false;
  if (value != nullptr) assign(instruction.result, {value, nullptr});
}

void FunctionEmitter::emit_get(const KernelInstruction& instruction) {
  llvm::Type* stored = module_.stored_type(kernel_.types[instruction.result]);
  llvm::LoadInst* value = builder_.CreateLoad(stored, element_address(instruction, stored));
  if (!module_.facts.has_own_arrays())  // else it may be one that is written before
    value->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(module_.llvm_context, {}));
  const bool is_boolean = instruction.op == KernelOp::get_boolean;
  assign(instruction.result, {is_boolean ? builder_.CreateIsNotNull(value) : value, nullptr});
}

/// Of an array and an index, the first two inputs.
llvm::Value* FunctionEmitter::element_address(const KernelInstruction& instruction, llvm::Type* stored) {
  const LeafValue array = read(instruction.inputs[0]);
  llvm::Value* index = word(instruction.inputs[1]);
  if (!sure_indices_.contains(&instruction)) {
    llvm::Value* const detail[] = {index, builder_.CreatePtrToInt(array.word, builder_.getInt64Ty())};
    fail_if(builder_.CreateICmpUGE(index, array.length), raddle_leaf_index_out_of_range, instruction.place, detail);
  }
  return builder_.CreateInBoundsGEP(stored, array.word, index);
}

void FunctionEmitter::emit_if(const KernelInstruction& instruction, bool is_tail) {
  const vm::KernelBranch& branch = kernel_.branches[instruction.index];
  llvm::BasicBlock* then = block("then");
  llvm::BasicBlock* join = llvm::BasicBlock::Create(module_.llvm_context, "join");
  llvm::BasicBlock* other = branch.else_block == vm::no_kernel_part ? join : block("else");
  builder_.CreateCondBr(word(instruction.inputs[0]), then, other);
  builder_.SetInsertPoint(then);
  emit_block(branch.then_block, is_tail);
  builder_.CreateBr(join);
  if (other != join) {
    builder_.SetInsertPoint(other);
    emit_block(branch.else_block, is_tail);
    builder_.CreateBr(join);
  }
  join->insertInto(target_);
  builder_.SetInsertPoint(join);
}

/// The loop variables keep their values when the loop ends: `next` is taken over only for another round.
void FunctionEmitter::emit_loop(const KernelInstruction& instruction) {
  const vm::KernelLoop& loop = kernel_.loops[instruction.index];
  const auto assign_variables = [&](const std::vector<KernelRegister>& from) {
    std::vector<LeafValue> values;  // all read before the first is assigned
    for (const KernelRegister id : from) values.push_back(read(id));
    for (std::size_t i = 0; i < values.size(); ++i) assign(loop.variables[i], values[i]);
  };
  llvm::BasicBlock* head = block("loop");
  llvm::BasicBlock* again = llvm::BasicBlock::Create(module_.llvm_context, "again");
  llvm::BasicBlock* end = llvm::BasicBlock::Create(module_.llvm_context, "end");
  assign_variables(loop.initial);
  builder_.CreateBr(head);
  builder_.SetInsertPoint(head);
  emit_block(loop.test_block, /*is_tail=*/false);
  if (loop.test_after) {
    emit_block(loop.body_block, /*is_tail=*/false);
    builder_.CreateCondBr(word(loop.condition), end, again);
  } else {
    llvm::BasicBlock* body = block("body");
    builder_.CreateCondBr(word(loop.condition), body, end);
    builder_.SetInsertPoint(body);
    emit_block(loop.body_block, /*is_tail=*/false);
    builder_.CreateBr(again);
  }
  again->insertInto(target_);
  builder_.SetInsertPoint(again);
  if (!is_brief(kernel_, loop)) check_interrupt(instruction.place);
  assign_variables(loop.next);
  builder_.CreateBr(head);
  end->insertInto(target_);
  builder_.SetInsertPoint(end);
}

void emit_function(ModuleEmitter& module, vm::KernelId kernel, unsigned level, llvm::Function* target) {
  FunctionEmitter(module, kernel, level, target).emit();
}

}  // namespace raddle::codegen
