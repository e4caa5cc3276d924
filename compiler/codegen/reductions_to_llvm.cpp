// Reductions of numbers that another kernel computes: Note [reduced stretches] in vm/program/leaf_abi.hpp.
#include <cstddef>
#include <cstdint>

#include "compiler/codegen/function_emitter.hpp"
#include "vm/value/reduction.hpp"

namespace raddle::codegen {

using vm::KernelInstruction;
using vm::KernelReducer;
using vm::KernelReduction;
using vm::KernelRegister;

namespace {

/// Note [few numbers]. Of up to eight floats each is alone in a lane of vm/value/reduction.cpp, so that they are added
/// one after the other: that is done in place, as a call of the VM costs more than they do. Numbers that are so large
/// that their squares have to be looked at, Inf and NaN are left to the VM: it begins anew.
constexpr std::int64_t few = vm::reduction_lanes;
constexpr double large = vm::plain_float_end;

bool is_for_few(KernelReducer reducer, vm::KernelType number) {
  return number == vm::KernelType::float_ && !vm::needs_deviation(reducer);
}

}  // namespace

void FunctionEmitter::emit_reduction(const KernelInstruction& instruction) {
  if (module_.is_for_device()) return reduce_here(instruction);
  const KernelReduction& reduction = kernel_.reductions[instruction.index];
  const vm::Kernel& source = module_.group[reduction.kernel];
  // what begins anew in each call of a recursion would take for ever
  if (!is_for_few(reduction.reducer, source.types[source.outputs[0]]) || module_.facts.is_recursive(reduction.kernel))
    return assign(reduction.result, LeafValue{reduce_by_vm(instruction), nullptr});
  if (deferred_ && kernel_.is_constant(reduction.count)) {
    const std::int64_t numbers = kernel_.constant(reduction.count);
    if (numbers > 0 && numbers <= few) return assign(reduction.result, {reduce_in_place(reduction, numbers), nullptr});
  }
  llvm::Value* count = word(reduction.count);
  // of no numbers there is a sum only
  const bool takes_none = reduction.reducer == KernelReducer::sum;
  llvm::Value* are_few = takes_none
                             ? builder_.CreateICmpULE(count, int_constant(few))
                             : builder_.CreateICmpULT(builder_.CreateSub(count, int_constant(1)), int_constant(few));
  llvm::BasicBlock *head = block("few"), *many = block("many"), *end = block("reduced");
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  builder_.CreateCondBr(are_few, head, many);
  const auto [value, last] = reduce_few(reduction, count, {before, head, many, end});
  builder_.SetInsertPoint(many);
  llvm::Value* by_vm = reduce_by_vm(instruction);
  llvm::BasicBlock* vm_end = builder_.GetInsertBlock();
  builder_.CreateBr(end);
  builder_.SetInsertPoint(end);
  llvm::PHINode* result = builder_.CreatePHI(value->getType(), 2);
  result->addIncoming(value, last);
  result->addIncoming(by_vm, vm_end);
  assign(reduction.result, LeafValue{result, nullptr});
}

/// The same of so many for sure, in an `each`: without a branch, so that many can be reduced side by side.
llvm::Value* FunctionEmitter::reduce_in_place(const KernelReduction& reduction, std::int64_t count) {
  llvm::Type* real = builder_.getDoubleTy();
  const bool adds = reduction.reducer == KernelReducer::sum || reduction.reducer == KernelReducer::mean;
  std::vector<llvm::Value*> arguments = {target_->getArg(0), nullptr};
  for (const KernelRegister input : reduction.inputs) {
    const LeafValue value = read(input);
    arguments.push_back(value.word);
    if (value.length) arguments.push_back(value.length);
  }
  llvm::Value *all = llvm::ConstantFP::get(real, 0.0), *lost = all;
  defers_ = true;
  for (std::int64_t point = 0; point < count; ++point) {
    arguments[1] = int_constant(point);
    llvm::CallInst* call = builder_.CreateCall(module_.inner(reduction.kernel), arguments);
    call->setCallingConv(llvm::CallingConv::Fast);
    fail_if(builder_.CreateIsNotNull(builder_.CreateExtractValue(call, 0)), raddle_leaf_domain_error, kernel_.place);
    llvm::Value* term = builder_.CreateExtractValue(call, 1);
    llvm::Value* size = builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, term);
    fail_if(builder_.CreateFCmpUGE(size, llvm::ConstantFP::get(real, large)), raddle_leaf_domain_error, kernel_.place);
    if (adds) {
      add_compensated(term, all, lost);
    } else {
      all = point == 0 ? term : further_one(reduction.reducer, all, term);
    }
  }
  defers_ = false;
  llvm::Value* result = adds ? builder_.CreateFAdd(all, lost) : all;
  if (reduction.reducer == KernelReducer::mean)
    result = builder_.CreateFDiv(result, llvm::ConstantFP::get(real, static_cast<double>(count)));
  return result;
}

/// As CompensatedSum::add.
void FunctionEmitter::add_compensated(llvm::Value* term, llvm::Value*& sum, llvm::Value*& lost) {
  llvm::Value *next = builder_.CreateFAdd(sum, term), *part = builder_.CreateFSub(next, sum);
  lost = builder_.CreateFAdd(lost, builder_.CreateFAdd(builder_.CreateFSub(sum, builder_.CreateFSub(next, part)),
                                                       builder_.CreateFSub(term, part)));
  sum = next;
}

/// Of equal ones the first.
llvm::Value* FunctionEmitter::further_one(KernelReducer reducer, llvm::Value* all, llvm::Value* term) {
  llvm::Value* is_beyond =
      reducer == KernelReducer::greatest ? builder_.CreateFCmpOLT(all, term) : builder_.CreateFCmpOLT(term, all);
  return builder_.CreateSelect(is_beyond, term, all);
}

/// See Note [few numbers]. @return the result and the block that it comes from
std::pair<llvm::Value*, llvm::BasicBlock*> FunctionEmitter::reduce_few(const KernelReduction& reduction,
                                                                       llvm::Value* count, const FewBlocks& blocks) {
  llvm::Type* real = builder_.getDoubleTy();
  const bool adds = reduction.reducer == KernelReducer::sum || reduction.reducer == KernelReducer::mean;
  const auto number = [&](double x) { return llvm::ConstantFP::get(real, x); };
  const double none = reduction.reducer == KernelReducer::greatest ? -large : large;  // all are nearer to 0
  builder_.SetInsertPoint(blocks.head);
  llvm::PHINode* point = builder_.CreatePHI(builder_.getInt64Ty(), 2, "point");
  llvm::PHINode* all = builder_.CreatePHI(real, 2);
  llvm::PHINode* lost = builder_.CreatePHI(real, 2);  // of a sum
  point->addIncoming(int_constant(0), blocks.before);
  all->addIncoming(number(adds ? 0.0 : none), blocks.before);
  lost->addIncoming(number(0.0), blocks.before);
  llvm::BasicBlock *next = block("next"), *computed = block(""), *taken = block(""), *done = block("done");
  builder_.CreateCondBr(builder_.CreateICmpSLT(point, count), next, done);

  builder_.SetInsertPoint(next);
  std::vector<llvm::Value*> arguments = {target_->getArg(0), point};
  for (const KernelRegister input : reduction.inputs) {
    const LeafValue value = read(input);
    arguments.push_back(value.word);
    if (value.length) arguments.push_back(value.length);
  }
  llvm::CallInst* call = builder_.CreateCall(module_.inner(reduction.kernel), arguments);
  call->setCallingConv(llvm::CallingConv::Fast);
  llvm::BasicBlock* failed = block("failed");
  builder_.CreateCondBr(builder_.CreateIsNull(builder_.CreateExtractValue(call, 0)), computed, failed);
  builder_.SetInsertPoint(failed);  // as reduce_points says it: to be interpreted
  emit_return(builder_.getInt32(raddle_leaf_domain_error), {});
  builder_.SetInsertPoint(computed);
  llvm::Value* term = builder_.CreateExtractValue(call, 1);
  llvm::Value* size = builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, term);
  builder_.CreateCondBr(builder_.CreateFCmpOLT(size, number(large)), taken, blocks.many);

  builder_.SetInsertPoint(taken);
  point->addIncoming(builder_.CreateAdd(point, int_constant(1)), taken);
  llvm::Value *next_all = all, *next_lost = lost;
  if (adds)
    add_compensated(term, next_all, next_lost);
  else
    next_all = further_one(reduction.reducer, all, term);
  all->addIncoming(next_all, taken);
  lost->addIncoming(next_lost, taken);
  builder_.CreateBr(blocks.head);

  builder_.SetInsertPoint(done);
  llvm::Value* result = adds ? builder_.CreateFAdd(all, lost) : all;
  if (reduction.reducer == KernelReducer::mean)
    result = builder_.CreateFDiv(result, builder_.CreateSIToFP(count, real));
  builder_.CreateBr(blocks.end);
  return {result, done};
}

/// The words of what points have in common stand behind those that the VM fills. @return the result
llvm::Value* FunctionEmitter::reduce_by_vm(const KernelInstruction& instruction) {
  constexpr std::uint64_t filled_words = 4;
  const KernelReduction& reduction = kernel_.reductions[instruction.index];
  std::vector<llvm::Value*> words;
  for (const KernelRegister input : reduction.inputs) append_words(input, words);
  llvm::Type* word = builder_.getInt64Ty();
  llvm::IRBuilder<> entry(&target_->getEntryBlock(), target_->getEntryBlock().begin());
  llvm::Value* arguments =
      entry.CreateAlloca(llvm::ArrayType::get(word, filled_words + words.size()), nullptr, "words");
  llvm::Value* result = entry.CreateAlloca(word, nullptr, "reduced");
  for (std::size_t i = 0; i < words.size(); ++i)
    builder_.CreateStore(words[i], builder_.CreateConstInBoundsGEP1_64(word, arguments, filled_words + i));
  llvm::Type* pointer = builder_.getPtrTy();
  llvm::Value* failure = builder_.CreateLoad(
      pointer, builder_.CreateStructGEP(module_.context_type(), target_->getArg(0), context_failure));
  llvm::Value* reduce = builder_.CreateLoad(pointer, worker_field(offsetof(raddle_leaf_worker, reduce)));
  llvm::FunctionType* type =
      llvm::FunctionType::get(builder_.getInt32Ty(), {pointer, pointer, word, pointer, pointer, pointer}, false);
  llvm::Value* status = builder_.CreateCall(
      type, reduce, {worker(), module_.reduction(reduction), this->word(reduction.count), arguments, result, failure});
  check_call(status, instruction.place);
  llvm::Value* made = builder_.CreateLoad(word, result);
  const bool is_float = kernel_.types[reduction.result] == vm::KernelType::float_;
  return is_float ? builder_.CreateBitCast(made, builder_.getDoubleTy()) : made;
}

}  // namespace raddle::codegen
