#pragma once
// Inside of kernels_to_llvm: results of points, where Note [stretches] of vm/program/leaf_abi.hpp says.
#include <llvm/IR/IRBuilder.h>

namespace raddle::codegen {

/// @param result   a value, or a vector of those of points that follow each other
/// @param results  where those of the stretch lie. @param number  of the (first) point
/// @param mask     of a vector: those that are stored. Null: all
inline void store_result(llvm::IRBuilder<>& builder, llvm::Value* result, llvm::Value* results, llvm::Value* number,
                         llvm::Value* mask) {
  llvm::Type* type = result->getType();
  if (type->getScalarType()->isIntegerTy(1)) {
    type = type->getWithNewType(builder.getInt8Ty());
    result = builder.CreateZExt(result, type);
  }
  llvm::Value* address = builder.CreateInBoundsGEP(type->getScalarType(), results, number);
  const llvm::Align alignment(type->getScalarSizeInBits() / 8);
  if (mask == nullptr)
    builder.CreateAlignedStore(result, address, alignment);
  else
    builder.CreateMaskedStore(result, address, alignment, mask);
}

}  // namespace raddle::codegen
