// Calls of leaves, and those at once: Note [forks] in vm/program/leaf_abi.hpp.
#include <algorithm>
#include <cstddef>
#include <set>

#include "compiler/codegen/function_emitter.hpp"
#include "compiler/codegen/library_functions.hpp"

namespace raddle::codegen {

using ir::OpKind;

/// Whether the results of `op`, the last thing to be done, are those of this function.
bool FunctionEmitter::returns_as(ir::FunctionId callee, const ir::Op& op) const {
  const std::size_t given = module_.ir_module().functions[callee].outputs.size();
  return op.results == source_.outputs && given == source_.outputs.size();
}

void FunctionEmitter::emit_call(const ir::Op& op, bool is_tail) {
  if (module_.ir_module().functions.at(op.callee).kind == ir::FunctionKind::foreign) return emit_library_call(op);
  if (module_.ir_module().functions.at(op.callee).kind != ir::FunctionKind::leaf) {
    return module_.refuse("a call of `" + module_.ir_module().functions[op.callee].name +
                          "`, which is no leaf function");
  }
  const bool returns_call = is_tail && returns_as(op.callee, op);
  llvm::CallInst* call = make_call(op, !returns_call);
  if (returns_call) {
    builder_.CreateRet(call);  // status and all: LLVM makes a loop of it
    return builder_.SetInsertPoint(block("never"));
  }
  check_call(builder_.CreateExtractValue(call, 0), op);
  for (unsigned i = 0; i < op.results.size(); ++i) {
    assign(op.results[i], LeafValue{builder_.CreateExtractValue(call, i + 1), nullptr});
  }
}

/// A C function of the types that check_foreign.cpp says: a bool is a byte in C.
void FunctionEmitter::emit_library_call(const ir::Op& op) {
  const ir::Function& callee = module_.ir_module().functions.at(op.callee);
  std::vector<llvm::Value*> arguments;
  std::vector<llvm::Type*> types;
  std::vector<unsigned> booleans;
  for (const ir::Operand operand : op.operands) {
    const LeafValue value = read(operand);
    const bool is_boolean = value.word->getType()->isIntegerTy(1);
    if (is_boolean) booleans.push_back(static_cast<unsigned>(arguments.size()));
    arguments.push_back(is_boolean ? builder_.CreateZExt(value.word, builder_.getInt8Ty()) : value.word);
    if (value.length) arguments.push_back(value.length);
  }
  for (const llvm::Value* argument : arguments) types.push_back(argument->getType());
  llvm::Type* result = module_.type(callee.variables[callee.outputs[0]].type);
  const bool gives_boolean = result->isIntegerTy(1);
  llvm::FunctionCallee function = module_.out.getOrInsertFunction(
      library_symbol(callee.foreign.library, callee.foreign.code),
      llvm::FunctionType::get(gives_boolean ? builder_.getInt8Ty() : result, types, /*isVarArg=*/false));
  llvm::CallInst* call = builder_.CreateCall(function, arguments);
  for (const unsigned i : booleans) call->addParamAttr(i, llvm::Attribute::ZExt);
  assign(op.results[0], LeafValue{gives_boolean ? builder_.CreateIsNotNull(call) : call, nullptr});
}

llvm::CallInst* FunctionEmitter::make_call(const ir::Op& op, bool unrolls) {
  unrolls = unrolls && op.callee == leaf_;
  llvm::Function* callee = module_.inner(op.callee, unrolls ? (level_ + 1) % module_.levels(leaf_) : 0);
  std::vector<llvm::Value*> arguments = {target_->getArg(0)};
  for (ir::Operand operand : op.operands) {
    const LeafValue value = read(operand);
    arguments.push_back(value.word);
    if (value.length) arguments.push_back(value.length);
  }
  llvm::CallInst* call = builder_.CreateCall(callee, arguments);
  call->setCallingConv(llvm::CallingConv::Fast);
  return call;
}

/// Returns if the call has failed, when the calls still `outstanding` are over.
void FunctionEmitter::check_call(llvm::Value* status, const ir::Op& op, std::span<const Fork> outstanding) {
  llvm::BasicBlock* failed = block("call_failed");
  llvm::BasicBlock* goes_on = block("");
  builder_.CreateCondBr(builder_.CreateIsNotNull(status), failed, goes_on,
                        llvm::MDBuilder(module_.llvm_context).createUnlikelyBranchWeights());
  builder_.SetInsertPoint(failed);
  note_call(op.span);
  for (const Fork& fork : outstanding) ask_for_outcome(fork, llvm::ConstantPointerNull::get(builder_.getPtrTy()));
  emit_return(status, {});
  builder_.SetInsertPoint(goes_on);
}

/// Whether a call in tail position may lead back to this function.
bool FunctionEmitter::has_tail_call(ir::RegionId region) const {
  const std::vector<ir::Op>& ops = source_.regions.at(region).ops;
  if (ops.empty()) return false;
  const ir::Op& last = ops.back();
  if (last.kind == OpKind::call) return returns_as(last.callee, last) && module_.is_recursive(last.callee);
  if (last.kind != OpKind::if_ && last.kind != OpKind::switch_) return false;
  return std::ranges::any_of(last.regions, [this](ir::RegionId arm) { return has_tail_call(arm); });
}

/// How many operations from the first on are calls that need nothing of each other: opt/gather_calls.hpp.
std::size_t FunctionEmitter::calls_at_once(std::span<const ir::Op> ops) {
  std::set<ir::VarId> made;
  std::size_t count = 0;
  for (; may_fork_ && count < ops.size(); ++count) {
    const ir::Op& op = ops[count];
    if (op.kind != OpKind::call || !module_.is_worth_forking(op.callee)) break;
    if (std::ranges::any_of(op.operands,
                            [&](ir::Operand operand) { return !operand.is_constant && made.contains(operand.index); }))
      break;
    made.insert(op.results.begin(), op.results.end());
  }
  return count;
}

void FunctionEmitter::emit_calls_at_once(std::span<const ir::Op> calls) {
  std::vector<Fork> forks;
  for (std::size_t i = calls.size() - 1; i > 0; --i) forks.insert(forks.begin(), fork(calls[i]));
  share_if_wanted();
  llvm::CallInst* call = make_call(calls[0], /*unrolls=*/true);
  check_call(builder_.CreateExtractValue(call, 0), calls[0], forks);
  for (unsigned i = 0; i < calls[0].results.size(); ++i)
    assign(calls[0].results[i], LeafValue{builder_.CreateExtractValue(call, i + 1), nullptr});
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
Fork FunctionEmitter::fork(const ir::Op& op) {
  llvm::Type* pointer = builder_.getPtrTy();
  std::vector<llvm::Value*> words;
  for (ir::Operand operand : op.operands) {
    const LeafValue value = read(operand);
    words.push_back(value.word->getType()->isIntegerTy(1) ? builder_.CreateZExt(value.word, builder_.getInt64Ty())
                                                          : value.word);
    if (value.length) words.push_back(value.length);
  }
  llvm::Type* all_words = llvm::ArrayType::get(builder_.getInt64Ty(), words.size() + op.results.size());
  llvm::StructType* type = llvm::StructType::get(module_.llvm_context, {pointer, pointer, pointer, pointer, all_words});
  llvm::IRBuilder<> entry(&target_->getEntryBlock(), target_->getEntryBlock().begin());
  llvm::Value* record = entry.CreateAlloca(type, nullptr, "fork");
  const Fork made{&op, record, type, words.size()};
  const auto store = [&](llvm::Value* value, RecordField field) {
    builder_.CreateStore(value, builder_.CreateStructGEP(type, record, field));
  };
  for (std::size_t i = 0; i < words.size(); ++i) builder_.CreateStore(words[i], word_address(made, i));
  store(module_.fork_site(op.callee), record_site);
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
  const ir::Op& op = *fork.op;
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
  llvm::CallInst* call = make_call(op, /*unrolls=*/true);
  std::vector<llvm::Value*> own_values = {builder_.CreateExtractValue(call, 0)};
  for (unsigned i = 0; i < op.results.size(); ++i) own_values.push_back(builder_.CreateExtractValue(call, i + 1));
  builder_.CreateBr(joined);

  builder_.SetInsertPoint(shared);
  llvm::Value* failure = builder_.CreateLoad(
      pointer, builder_.CreateStructGEP(module_.context_type(), target_->getArg(0), context_failure));
  std::vector<llvm::Value*> shared_values = {ask_for_outcome(fork, failure)};
  for (unsigned i = 0; i < op.results.size(); ++i) {
    llvm::Type* type = own_values[i + 1]->getType();
    llvm::Value* address = word_address(fork, fork.result_index + i);
    shared_values.push_back(type->isIntegerTy(1)
                                ? builder_.CreateIsNotNull(builder_.CreateLoad(builder_.getInt64Ty(), address))
                                : builder_.CreateLoad(type, address));
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
  check_call(values[0], op, outstanding);
  for (unsigned i = 0; i < op.results.size(); ++i) assign(op.results[i], LeafValue{values[i + 1], nullptr});
}

}  // namespace raddle::codegen
