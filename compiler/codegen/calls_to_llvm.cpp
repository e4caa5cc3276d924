// Calls of leaves, and those at once: Note [forks] in vm/program/leaf_abi.hpp.
#include <algorithm>
#include <cstddef>
#include <set>

#include "compiler/codegen/function_emitter.hpp"
#include "compiler/codegen/library_functions.hpp"
#include "compiler/codegen/word_reader.hpp"

namespace raddle::codegen {

using vm::KernelInstruction;
using vm::KernelOp;
using vm::KernelRegister;
using vm::Place;

/// Whether the results of `call`, the last thing to be done, are those of this function.
bool FunctionEmitter::returns_as(const KernelInstruction& call) const {
  const vm::KernelCall& called = kernel_.calls[call.index];
  return called.results == kernel_.outputs && module_.group[called.kernel].outputs.size() == kernel_.outputs.size();
}

void FunctionEmitter::emit_call(const KernelInstruction& instruction, bool is_tail) {
  const bool returns_call = is_tail && rooms_ == nullptr && returns_as(instruction);
  llvm::CallInst* call = make_call(instruction, !returns_call);
  if (returns_call) {
    builder_.CreateRet(call);  // status and all: LLVM makes a loop of it
    return builder_.SetInsertPoint(block("never"));
  }
  check_call(builder_.CreateExtractValue(call, 0), instruction.place);
  const std::vector<KernelRegister>& results = kernel_.calls[instruction.index].results;
  for (unsigned i = 0; i < results.size(); ++i)
    assign(results[i], LeafValue{builder_.CreateExtractValue(call, i + 1), nullptr});
}

/// A C function of the types that check_foreign.cpp says: a bool is a byte in C.
void FunctionEmitter::emit_foreign_call(const KernelInstruction& instruction) {
  const vm::KernelForeignCall& called = kernel_.foreign_calls[instruction.index];
  std::vector<llvm::Value*> arguments;
  std::vector<llvm::Type*> types;
  std::vector<unsigned> booleans;
  for (const KernelRegister input : called.inputs) {
    const LeafValue value = read(input);
    const bool is_boolean = value.word->getType()->isIntegerTy(1);
    if (is_boolean) booleans.push_back(static_cast<unsigned>(arguments.size()));
    arguments.push_back(is_boolean ? builder_.CreateZExt(value.word, builder_.getInt8Ty()) : value.word);
    if (value.length) arguments.push_back(value.length);
  }
  for (const llvm::Value* argument : arguments) types.push_back(argument->getType());
  llvm::Type* result = module_.type(kernel_.types[called.result]);
  const bool gives_boolean = result->isIntegerTy(1);
  llvm::FunctionCallee function = module_.out.getOrInsertFunction(
      library_symbol(called.library, called.symbol),
      llvm::FunctionType::get(gives_boolean ? builder_.getInt8Ty() : result, types, /*isVarArg=*/false));
  llvm::CallInst* call = builder_.CreateCall(function, arguments);
  for (const unsigned i : booleans) call->addParamAttr(i, llvm::Attribute::ZExt);
  assign(called.result, LeafValue{gives_boolean ? builder_.CreateIsNotNull(call) : call, nullptr});
}

/// As in leaf_abi.hpp.
void FunctionEmitter::append_words(KernelRegister id, std::vector<llvm::Value*>& words) {
  const LeafValue value = read(id);
  words.push_back(word_of_value(builder_, value.word));
  if (value.length) words.push_back(value.length);
}

llvm::CallInst* FunctionEmitter::make_call(const KernelInstruction& instruction, bool unrolls) {
  const vm::KernelCall& called = kernel_.calls[instruction.index];
  unrolls = unrolls && called.kernel == id_;
  llvm::Function* callee = module_.inner(called.kernel, unrolls ? (level_ + 1) % module_.levels(id_) : 0);
  std::vector<llvm::Value*> arguments = {target_->getArg(0)};
  for (const KernelRegister input : called.inputs) {
    const LeafValue value = read(input);
    arguments.push_back(value.word);
    if (value.length) arguments.push_back(value.length);
  }
  llvm::CallInst* call = builder_.CreateCall(callee, arguments);
  call->setCallingConv(llvm::CallingConv::Fast);
  return call;
}

/// Returns if the call has failed, when the calls still `outstanding` are over.
void FunctionEmitter::check_call(llvm::Value* status, const Place& place, std::span<const Fork> outstanding) {
  llvm::BasicBlock* failed = block("call_failed");
  llvm::BasicBlock* goes_on = block("");
  builder_.CreateCondBr(builder_.CreateIsNotNull(status), failed, goes_on,
                        llvm::MDBuilder(module_.llvm_context).createUnlikelyBranchWeights());
  builder_.SetInsertPoint(failed);
  note_call(place);
  for (const Fork& fork : outstanding) ask_for_outcome(fork, llvm::ConstantPointerNull::get(builder_.getPtrTy()));
  emit_return(status, {});
  builder_.SetInsertPoint(goes_on);
}

/// Whether a call in tail position may lead back to this function.
bool FunctionEmitter::has_tail_call(vm::KernelBlockId block) const {
  if (block == vm::no_kernel_part || kernel_.blocks[block].empty()) return false;
  const KernelInstruction& last = kernel_.blocks[block].back();
  if (last.op == KernelOp::call)
    return returns_as(last) && module_.facts.is_recursive(kernel_.calls[last.index].kernel);
  if (last.op != KernelOp::if_) return false;
  const vm::KernelBranch& branch = kernel_.branches[last.index];
  return has_tail_call(branch.then_block) || has_tail_call(branch.else_block);
}

/// How many instructions from the first on are calls that need nothing of each other: opt/launches/gather_calls.hpp.
std::size_t FunctionEmitter::calls_at_once(Instructions instructions) {
  std::set<KernelRegister> made;
  std::size_t count = 0;
  for (; may_fork_ && !deferred_ && count < instructions.size(); ++count) {
    const KernelInstruction& instruction = instructions[count];
    if (instruction.op != KernelOp::call) break;
    const vm::KernelCall& call = kernel_.calls[instruction.index];
    if (!module_.is_worth_forking(call.kernel) ||
        std::ranges::any_of(call.inputs, [&](KernelRegister input) { return made.contains(input); }))
      break;
    made.insert(call.results.begin(), call.results.end());
  }
  return count;
}

void FunctionEmitter::emit_calls_at_once(Instructions calls) {
  std::vector<Fork> forks;
  for (std::size_t i = calls.size() - 1; i > 0; --i) forks.insert(forks.begin(), fork(calls[i]));
  share_if_wanted();
  llvm::CallInst* call = make_call(calls[0], /*unrolls=*/true);
  check_call(builder_.CreateExtractValue(call, 0), calls[0].place, forks);
  const std::vector<KernelRegister>& results = kernel_.calls[calls[0].index].results;
  for (unsigned i = 0; i < results.size(); ++i)
    assign(results[i], LeafValue{builder_.CreateExtractValue(call, i + 1), nullptr});
  for (std::size_t i = 0; i < forks.size(); ++i) join(forks[i], std::span(forks).subspan(i + 1));
}

llvm::Value* FunctionEmitter::worker_field(std::size_t offset) {
  return builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), worker(), offset);
}

llvm::Value* FunctionEmitter::worker() {
  return builder_.CreateLoad(builder_.getPtrTy(),
                             builder_.CreateStructGEP(module_.context_type(), target_->getArg(0), context_worker));
}

/// Puts a record of the call onto the worker's list.
Fork FunctionEmitter::fork(const KernelInstruction& instruction) {
  const vm::KernelCall& called = kernel_.calls[instruction.index];
  llvm::Type* pointer = builder_.getPtrTy();
  std::vector<llvm::Value*> words;
  for (const KernelRegister input : called.inputs) append_words(input, words);
  llvm::Type* all_words = llvm::ArrayType::get(builder_.getInt64Ty(), words.size() + called.results.size());
  llvm::StructType* type = llvm::StructType::get(module_.llvm_context, {pointer, pointer, pointer, pointer, all_words});
  llvm::IRBuilder<> entry(&target_->getEntryBlock(), target_->getEntryBlock().begin());
  llvm::Value* record = entry.CreateAlloca(type, nullptr, "fork");
  const Fork made{&instruction, record, type, words.size()};
  const auto store = [&](llvm::Value* value, RecordField field) {
    builder_.CreateStore(value, builder_.CreateStructGEP(type, record, field));
  };
  for (std::size_t i = 0; i < words.size(); ++i) builder_.CreateStore(words[i], word_address(made, i));
  store(module_.fork_site(called.kernel), record_site);
  store(llvm::ConstantPointerNull::get(builder_.getPtrTy()), record_task);
  llvm::Value* newest = worker_field(offsetof(raddle_leaf_worker, newest));
  llvm::Value* older = builder_.CreateLoad(pointer, newest);
  store(older, record_older);
  builder_.CreateStore(record, builder_.CreateStructGEP(type, older, record_newer));
  builder_.CreateStore(record, newest);
  return made;
}

llvm::Value* FunctionEmitter::word_address(const Fork& fork, std::uint64_t index) {
  llvm::Value* words = builder_.CreateStructGEP(fork.type, fork.record, record_words);
  return builder_.CreateConstInBoundsGEP1_64(builder_.getInt64Ty(), words, index);
}

void FunctionEmitter::share_if_wanted() {
  llvm::Type* pointer = builder_.getPtrTy();
  llvm::Value* idle_address = builder_.CreateLoad(pointer, worker_field(offsetof(raddle_leaf_worker, idle_workers)));
  llvm::LoadInst* idle = builder_.CreateAlignedLoad(builder_.getInt32Ty(), idle_address, llvm::Align(4));
  idle->setAtomic(llvm::AtomicOrdering::Monotonic);
  llvm::BasicBlock* shares = block("shares");
  llvm::BasicBlock* goes_on = block("");
  builder_.CreateCondBr(builder_.CreateIsNotNull(idle), shares, goes_on,
                        llvm::MDBuilder(module_.llvm_context).createUnlikelyBranchWeights());
  builder_.SetInsertPoint(shares);
  llvm::Value* share = builder_.CreateLoad(pointer, worker_field(offsetof(raddle_leaf_worker, share)));
  builder_.CreateCall(llvm::FunctionType::get(builder_.getVoidTy(), {pointer}, false), share, {worker()});
  builder_.CreateBr(goes_on);
  builder_.SetInsertPoint(goes_on);
}

/// @return the status
llvm::Value* FunctionEmitter::ask_for_outcome(const Fork& fork, llvm::Value* failure) {
  llvm::Type* pointer = builder_.getPtrTy();
  llvm::Value* join = builder_.CreateLoad(pointer, worker_field(offsetof(raddle_leaf_worker, join)));
  llvm::FunctionType* type = llvm::FunctionType::get(builder_.getInt32Ty(), {pointer, pointer, pointer}, false);
  return builder_.CreateCall(type, join, {worker(), fork.record, failure});
}

void FunctionEmitter::join(const Fork& fork, std::span<const Fork> outstanding) {
  const KernelInstruction& instruction = *fork.instruction;
  const std::vector<KernelRegister>& results = kernel_.calls[instruction.index].results;
  llvm::Type* pointer = builder_.getPtrTy();
  const auto field = [&](RecordField which) {
    return builder_.CreateLoad(pointer, builder_.CreateStructGEP(fork.type, fork.record, which));
  };
  llvm::BasicBlock* shared = block("shared");
  llvm::BasicBlock* own = block("own");
  llvm::BasicBlock* joined = block("joined");
  builder_.CreateCondBr(builder_.CreateIsNull(field(record_task)), own, shared,
                        llvm::MDBuilder(module_.llvm_context).createLikelyBranchWeights());

  builder_.SetInsertPoint(own);
  builder_.CreateStore(field(record_older), worker_field(offsetof(raddle_leaf_worker, newest)));
  llvm::CallInst* call = make_call(instruction, /*unrolls=*/true);
  std::vector<llvm::Value*> own_values = {builder_.CreateExtractValue(call, 0)};
  for (unsigned i = 0; i < results.size(); ++i) own_values.push_back(builder_.CreateExtractValue(call, i + 1));
  builder_.CreateBr(joined);

  builder_.SetInsertPoint(shared);
  llvm::Value* failure = builder_.CreateLoad(
      pointer, builder_.CreateStructGEP(module_.context_type(), target_->getArg(0), context_failure));
  std::vector<llvm::Value*> shared_values = {ask_for_outcome(fork, failure)};
  for (unsigned i = 0; i < results.size(); ++i) {
    llvm::Type* type = own_values[i + 1]->getType();
    llvm::Value* address = word_address(fork, fork.result_index + i);
    shared_values.push_back(value_of_word(builder_, builder_.CreateLoad(word_type(type), address), type));
  }
  builder_.CreateBr(joined);

  builder_.SetInsertPoint(joined);
  std::vector<llvm::Value*> values;
  for (std::size_t i = 0; i < own_values.size(); ++i) {
    llvm::PHINode* value = builder_.CreatePHI(own_values[i]->getType(), 2);
    value->addIncoming(own_values[i], own);
    value->addIncoming(shared_values[i], shared);
    values.push_back(value);
  }
  check_call(values[0], instruction.place, outstanding);
  for (unsigned i = 0; i < results.size(); ++i) assign(results[i], LeafValue{values[i + 1], nullptr});
}

}  // namespace raddle::codegen
