#pragma once
// Inside of kernels_to_llvm: the words of a call, one after the other.
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/MDBuilder.h>

#include <cstdint>
#include <vector>

namespace raddle::codegen {

/// Lengths are below 2^59: their elements' bytes fit the address space. Lets LLVM drop overflow checks of indices.
inline constexpr std::uint64_t length_end = std::uint64_t{1} << 59;

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
    if (type->isIntegerTy(1)) return arguments.push_back(builder_.CreateIsNotNull(load(builder_.getInt64Ty())));
    arguments.push_back(load(type));
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
