#pragma once
// Inside of kernels_to_llvm: what points read and write one by one, where Note [stretches] of vm/program/leaf_abi.hpp
// says.
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

inline constexpr std::uint64_t bytes_of_line = 64;  ///< of the cache: as much as goes to memory at a time

/// See Note [past the cache] in leaf_abi.hpp. @param vector  as wide as the processor's, or some of these
/// @param address  that of such a vector, from the beginning of a line on
void store_past_cache(llvm::IRBuilder<>& builder, llvm::Value* vector, llvm::Value* address);

/// @param elements  of the stretch. @param number  of the point
inline llvm::Value* load_element(llvm::IRBuilder<>& builder, llvm::Type* type, llvm::Value* elements,
                                 llvm::Value* number) {
  llvm::Type* stored = type->isIntegerTy(1) ? builder.getInt8Ty() : type;
  llvm::Value* element = builder.CreateLoad(stored, builder.CreateInBoundsGEP(stored, elements, number));
  return stored == type ? element : builder.CreateIsNotNull(element);
}

}  // namespace raddle::codegen
