#pragma once
// The number type of vm/math that emits LLVM (Note [number types] in vm/math/number.hpp): each operation becomes an
// instruction of the same meaning, of one double or of a vector of them, so machine code has the bits of the
// interpreter.
#include <llvm/IR/IRBuilder.h>

#include <concepts>
#include <cstdint>

#include "vm/math/number.hpp"

namespace raddle::vm::math {

/// Where the numbers of this thread are emitted, and as what; set by IrScope.
inline thread_local llvm::IRBuilder<>* ir_builder = nullptr;
inline thread_local llvm::Type* ir_number = nullptr;  ///< double, or a vector of it
inline thread_local llvm::Type* ir_word = nullptr;    ///< i64, or a vector of as many
class IrScope {
 public:
  /// @param number  double, or a vector of it
  IrScope(llvm::IRBuilder<>& builder, llvm::Type* number) {
    ir_builder = &builder;
    ir_number = number;
    ir_word = number->getWithNewType(builder.getInt64Ty());
  }
  ~IrScope() { ir_builder = builder_, ir_number = number_, ir_word = word_; }
  IrScope(const IrScope&) = delete;
  IrScope& operator=(const IrScope&) = delete;

 private:
  llvm::IRBuilder<>* const builder_ = ir_builder;
  llvm::Type *const number_ = ir_number, *const word_ = ir_word;
};
/// An element of a table of tables.hpp, for each lane.
llvm::Value* ir_load(const double* table, llvm::Value* index);
llvm::Value* ir_load(const uint64_t* table, llvm::Value* index);

/// A condition; or, behind a branch, from which block control came.
struct IrMask {
  llvm::Value* value;
  llvm::BasicBlock* from_yes = nullptr;
  llvm::BasicBlock* from_no = nullptr;
};
struct IrWord {
  llvm::Value* value = nullptr;
  IrWord() = default;
  explicit IrWord(llvm::Value* value) : value(value) {}
  explicit IrWord(std::integral auto word) : value(llvm::ConstantInt::get(ir_word, static_cast<std::uint64_t>(word))) {}
};
struct IrNumber {
  llvm::Value* value;
  explicit IrNumber(llvm::Value* value) : value(value) {}
  IrNumber(double number) : value(llvm::ConstantFP::get(ir_number, number)) {}
};
template <>
struct NumberType<IrNumber> {
  using Word = IrWord;
};

inline IrNumber operator+(IrNumber a, IrNumber b) { return IrNumber(ir_builder->CreateFAdd(a.value, b.value)); }
inline IrNumber operator-(IrNumber a, IrNumber b) { return IrNumber(ir_builder->CreateFSub(a.value, b.value)); }
inline IrNumber operator*(IrNumber a, IrNumber b) { return IrNumber(ir_builder->CreateFMul(a.value, b.value)); }
inline IrNumber operator/(IrNumber a, IrNumber b) { return IrNumber(ir_builder->CreateFDiv(a.value, b.value)); }
inline IrNumber operator-(IrNumber a) { return IrNumber(ir_builder->CreateFNeg(a.value)); }
inline IrMask operator==(IrNumber a, IrNumber b) { return {ir_builder->CreateFCmpOEQ(a.value, b.value)}; }
inline IrMask operator<(IrNumber a, IrNumber b) { return {ir_builder->CreateFCmpOLT(a.value, b.value)}; }
inline IrMask operator<=(IrNumber a, IrNumber b) { return {ir_builder->CreateFCmpOLE(a.value, b.value)}; }
inline IrMask operator>(IrNumber a, IrNumber b) { return {ir_builder->CreateFCmpOGT(a.value, b.value)}; }
inline IrMask operator>=(IrNumber a, IrNumber b) { return {ir_builder->CreateFCmpOGE(a.value, b.value)}; }

inline IrWord operator+(IrWord a, IrWord b) { return IrWord(ir_builder->CreateAdd(a.value, b.value)); }
inline IrWord operator-(IrWord a, IrWord b) { return IrWord(ir_builder->CreateSub(a.value, b.value)); }
inline IrWord operator*(IrWord a, IrWord b) { return IrWord(ir_builder->CreateMul(a.value, b.value)); }
inline IrWord operator&(IrWord a, IrWord b) { return IrWord(ir_builder->CreateAnd(a.value, b.value)); }
inline IrWord operator|(IrWord a, IrWord b) { return IrWord(ir_builder->CreateOr(a.value, b.value)); }
inline IrWord operator^(IrWord a, IrWord b) { return IrWord(ir_builder->CreateXor(a.value, b.value)); }
inline IrWord operator<<(IrWord a, IrWord by) { return IrWord(ir_builder->CreateShl(a.value, by.value)); }
inline IrWord operator>>(IrWord a, IrWord by) { return IrWord(ir_builder->CreateLShr(a.value, by.value)); }
inline IrWord operator<<(IrWord a, int by) { return a << IrWord(by); }
inline IrWord operator>>(IrWord a, int by) { return a >> IrWord(by); }
inline IrMask operator==(IrWord a, IrWord b) { return {ir_builder->CreateICmpEQ(a.value, b.value)}; }

inline IrMask operator&(IrMask a, IrMask b) { return {ir_builder->CreateAnd(a.value, b.value)}; }
inline IrMask operator|(IrMask a, IrMask b) { return {ir_builder->CreateOr(a.value, b.value)}; }
inline IrMask operator!(IrMask a) { return {ir_builder->CreateNot(a.value)}; }

inline IrWord as_word(IrNumber x) { return IrWord(ir_builder->CreateBitCast(x.value, ir_word)); }
inline IrNumber as_float(IrWord word) { return IrNumber(ir_builder->CreateBitCast(word.value, ir_number)); }
inline IrNumber multiply_add(IrNumber a, IrNumber b, IrNumber c) {
  return IrNumber(ir_builder->CreateIntrinsic(llvm::Intrinsic::fma, {ir_number}, {a.value, b.value, c.value}));
}
inline IrNumber square_root(IrNumber x) {
  return IrNumber(ir_builder->CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x.value));
}
inline IrNumber load(const double* table, IrWord index) { return IrNumber(ir_load(table, index.value)); }
inline IrWord load(const uint64_t* table, IrWord index) { return IrWord(ir_load(table, index.value)); }

inline llvm::Value* ir_select(IrMask mask, llvm::Value* a, llvm::Value* b) {
  if (mask.from_yes == nullptr) return ir_builder->CreateSelect(mask.value, a, b);
  llvm::PHINode* joined = ir_builder->CreatePHI(a->getType(), 2);
  joined->addIncoming(a, mask.from_yes);
  joined->addIncoming(b, mask.from_no);
  return joined;
}
inline IrNumber select(IrMask mask, IrNumber a, IrNumber b) { return IrNumber(ir_select(mask, a.value, b.value)); }
inline IrWord select(IrMask mask, IrWord a, IrWord b) { return IrWord(ir_select(mask, a.value, b.value)); }

/// Branches around other(), if no lane needs it.
template <class Result, class Other>
Result rarely(IrMask mask, const Result& usual, const Other& other) {
  llvm::BasicBlock* const before = ir_builder->GetInsertBlock();
  llvm::Function* const function = before->getParent();
  llvm::BasicBlock* const rare = llvm::BasicBlock::Create(function->getContext(), "rare", function);
  llvm::BasicBlock* const join = llvm::BasicBlock::Create(function->getContext(), "join", function);
  const bool is_vector = mask.value->getType()->isVectorTy();
  ir_builder->CreateCondBr(is_vector ? ir_builder->CreateOrReduce(mask.value) : mask.value, rare, join);
  ir_builder->SetInsertPoint(rare);
  const Result made = is_vector ? select(mask, other(), usual) : other();
  llvm::BasicBlock* const end = ir_builder->GetInsertBlock();
  ir_builder->CreateBr(join);
  ir_builder->SetInsertPoint(join);
  return select(IrMask{mask.value, end, before}, made, usual);
}

}  // namespace raddle::vm::math
