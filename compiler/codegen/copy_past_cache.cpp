// Results that are more than a cache holds: see Note [past the cache] in leaf_abi.hpp.
#include <algorithm>

#include "compiler/codegen/module_emitter.hpp"
#include "compiler/codegen/point_elements.hpp"

namespace raddle::codegen {

/// What waits for memory: not kernels that compute long for each point, have rows or give booleans.
bool ModuleEmitter::can_go_past_cache(vm::KernelId kernel) const {
  constexpr std::size_t much = 400;
  const vm::Kernel& source = group[kernel];
  const auto is_large = [&](vm::KernelRegister output) { return source.types[output] != vm::KernelType::boolean; };
  return !is_for_device() && source.row_count == 0 && !facts.is_heavy(kernel) &&
         std::ranges::all_of(source.outputs, is_large) && facts.cost(source, 0) <= much;
}

void store_past_cache(llvm::IRBuilder<>& builder, llvm::Value* vector, llvm::Value* address) {
  const std::uint64_t bytes = vector->getType()->getPrimitiveSizeInBits().getFixedValue() / 8;
  builder.CreateAlignedStore(vector, address, llvm::Align(std::min(bytes, bytes_of_line)))
      ->setMetadata(llvm::LLVMContext::MD_nontemporal,
                    llvm::MDNode::get(builder.getContext(), llvm::ConstantAsMetadata::get(builder.getInt32(1))));
}

/// copy(to, from, bytes), which go to memory without a look at what is there: a processor reads what it writes parts of
/// else, and has no room for what it is to read next. Numbers up to the first whole line of the cache, and those behind
/// the last one, are copied as usual.
llvm::Function* ModuleEmitter::copier_past_cache() {
  if (copier_past_cache_) return copier_past_cache_;
  llvm::Type *pointer = llvm::PointerType::get(llvm_context, 0), *number = llvm::Type::getInt64Ty(llvm_context);
  copier_past_cache_ = llvm::Function::Create(
      llvm::FunctionType::get(llvm::Type::getVoidTy(llvm_context), {pointer, pointer, number}, false),
      llvm::Function::InternalLinkage, "copy_past_cache", out);
  copier_past_cache_->addFnAttr(llvm::Attribute::NoInline);
  copier_past_cache_->setDoesNotThrow();
  llvm::Function* function = copier_past_cache_;
  llvm::Value *to = function->getArg(0), *from = function->getArg(1), *bytes = function->getArg(2);
  for (unsigned i = 0; i < 2; ++i) function->addParamAttr(i, llvm::Attribute::NoAlias);
  const auto block = [&](const char* name) { return llvm::BasicBlock::Create(llvm_context, name, function); };
  llvm::BasicBlock *entry = block("entry"), *head = block("head"), *body = block("body"), *end = block("end");
  llvm::IRBuilder<> builder(entry);
  const auto at = [&](llvm::Value* base, llvm::Value* offset) { return builder.CreatePtrAdd(base, offset); };
  llvm::Value* before = builder.CreateBinaryIntrinsic(
      llvm::Intrinsic::umin, bytes,
      builder.CreateAnd(builder.CreateNeg(builder.CreatePtrToInt(to, number)), builder.getInt64(bytes_of_line - 1)));
  builder.CreateMemCpy(to, llvm::Align(4), from, llvm::Align(4), before);
  builder.CreateBr(head);

  builder.SetInsertPoint(head);
  llvm::PHINode* done = builder.CreatePHI(number, 2);
  done->addIncoming(before, entry);
  llvm::Value* next = builder.CreateAdd(done, builder.getInt64(bytes_of_line));
  builder.CreateCondBr(builder.CreateICmpULE(next, bytes), body, end);
  builder.SetInsertPoint(body);
  const std::uint64_t bytes_of_vector = options_.vector_lanes * 8;
  llvm::Type* vector = llvm::FixedVectorType::get(number, options_.vector_lanes);
  for (std::uint64_t i = 0; i < bytes_of_line; i += bytes_of_vector) {
    llvm::Value* offset = builder.CreateAdd(done, builder.getInt64(i));
    llvm::Value* part = builder.CreateAlignedLoad(vector, at(from, offset), llvm::Align(4));
    store_past_cache(builder, part, at(to, offset));
  }
  done->addIncoming(next, body);
  builder.CreateBr(head);

  builder.SetInsertPoint(end);
  builder.CreateMemCpy(at(to, done), llvm::Align(4), at(from, done), llvm::Align(4), builder.CreateSub(bytes, done));
  builder.CreateRetVoid();
  return function;
}

}  // namespace raddle::codegen
