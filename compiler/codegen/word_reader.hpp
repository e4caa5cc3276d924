#pragma once
// Inside of kernels_to_llvm: the words of a call, one after the other.
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/MDBuilder.h>

#include <cstdint>
#include <vector>

namespace raddle::codegen {

/// Lengths are below 2^59: their elements' bytes fit the address space. Lets LLVM drop overflow checks of indices.
inline constexpr std::uint64_t length_end = std::uint64_t{1} << 59;

/// An int32 or float32 is a register of 32 bits, and a word of leaf_abi.hpp as the int or float that it is.
inline llvm::Type* word_type(llvm::Type* type) {
  if (type->isFloatTy()) return llvm::Type::getDoubleTy(type->getContext());
  const bool is_narrow = type->isIntegerTy(1) || type->isIntegerTy(32);
  return is_narrow ? llvm::Type::getInt64Ty(type->getContext()) : type;
}
/// @param word  of word_type(type)
inline llvm::Value* value_of_word(llvm::IRBuilder<>& builder, llvm::Value* word, llvm::Type* type) {
  if (type->isIntegerTy(1)) return builder.CreateIsNotNull(word);
  if (type->isFloatTy()) return builder.CreateFPTrunc(word, type);
  return type->isIntegerTy(32) ? builder.CreateTrunc(word, type) : word;
}
inline llvm::Value* word_of_value(llvm::IRBuilder<>& builder, llvm::Value* value) {
  llvm::Type* type = value->getType();
  if (type->isIntegerTy(1)) return builder.CreateZExt(value, word_type(type));
  if (type->isFloatTy()) return builder.CreateFPExt(value, word_type(type));
  return type->isIntegerTy(32) ? builder.CreateSExt(value, word_type(type)) : value;
}

/// Takes a call's words one after the other.
class WordReader {
 public:
  WordReader(llvm::IRBuilder<>& builder, llvm::Value* words) : builder_(builder), words_(words) {}
  /// Volatile, so that two words are not read as one vector: a processor waits until all that lies in what it reads is
  /// in the cache if it was written by two instructions just before, as words are (4 ns of a call).
  llvm::LoadInst* load(llvm::Type* type) {
    llvm::Value* address = builder_.CreateConstInBoundsGEP1_64(builder_.getInt64Ty(), words_, next_++);
    return builder_.CreateLoad(type, address, /*isVolatile=*/true);
  }
  /// Appends a parameter of `type`: one word, or an array's two.
  void load_argument(llvm::Type* type, std::vector<llvm::Value*>& arguments) {
    arguments.push_back(value_of_word(builder_, load(word_type(type)), type));
    if (!type->isPointerTy()) return;
    llvm::LoadInst* length = load(builder_.getInt64Ty());
    const llvm::APInt first(64, 0), end(64, length_end);
    length->setMetadata(llvm::LLVMContext::MD_range, llvm::MDBuilder(builder_.getContext()).createRange(first, end));
    arguments.push_back(length);
  }

 private:
  llvm::IRBuilder<>& builder_;
  llvm::Value* words_;
  unsigned next_ = 0;
};

}  // namespace raddle::codegen
