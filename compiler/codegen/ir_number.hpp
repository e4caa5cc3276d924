#pragma once
// The number type of vm/math that emits LLVM (Note [number types] in vm/math/number.hpp): each operation becomes an
// instruction of the same meaning, of one double or float or of a vector of them, so machine code has the bits of the
// interpreter.
#include <llvm/IR/IRBuilder.h>

#include <concepts>
#include <cstdint>

#include "vm/math/number.hpp"

namespace raddle::vm::math {

/// Where the numbers of this thread are emitted, and as what; set by IrScope.
inline thread_local llvm::IRBuilder<>* ir_builder = nullptr;
inline thread_local llvm::Type* ir_number = nullptr;  ///< double or float, or a vector of it
inline thread_local llvm::Type* ir_word = nullptr;    ///< i64 or i32, or a vector of as many
inline thread_local bool ir_converts_words = false;   ///< the processor makes doubles of many ints at once, and back
class IrScope {
 public:
  /// @param number  double or float, or a vector of it
  IrScope(llvm::IRBuilder<>& builder, llvm::Type* number, bool converts_words = false) {
    ir_builder = &builder;
    ir_number = number;
    ir_word = number->getWithNewType(builder.getIntNTy(number->getScalarSizeInBits()));
    ir_converts_words = converts_words;
  }
  ~IrScope() { ir_builder = builder_, ir_number = number_, ir_word = word_, ir_converts_words = converts_words_; }
  IrScope(const IrScope&) = delete;
  IrScope& operator=(const IrScope&) = delete;

 private:
  llvm::IRBuilder<>* const builder_ = ir_builder;
  llvm::Type *const number_ = ir_number, *const word_ = ir_word;
  const bool converts_words_ = ir_converts_words;
};
/// An element of a table of tables.hpp, for each lane.
llvm::Value* ir_load(const double* table, llvm::Value* index);
llvm::Value* ir_load(const uint64_t* table, llvm::Value* index);
llvm::Value* ir_load(const float* table, llvm::Value* index);
llvm::Value* ir_load(const uint32_t* table, llvm::Value* index);

/// A condition; or, behind a branch, from which block control came.
struct IrMask {
  llvm::Value* value;
  llvm::BasicBlock* from_yes = nullptr;
  llvm::BasicBlock* from_no = nullptr;
};
template <class Real>
struct IrWordOf {
  llvm::Value* value = nullptr;
  IrWordOf() = default;
  explicit IrWordOf(llvm::Value* value) : value(value) {}
  explicit IrWordOf(std::integral auto word)
      : value(llvm::ConstantInt::get(ir_word, static_cast<std::uint64_t>(word))) {}
};
/// @tparam Real  double or float, as IrScope says
template <class Real>
struct IrNumberOf {
  llvm::Value* value;
  explicit IrNumberOf(llvm::Value* value) : value(value) {}
  IrNumberOf(double number) : value(llvm::ConstantFP::get(ir_number, number)) {}
};
using IrWord = IrWordOf<double>;
using IrNumber = IrNumberOf<double>;
template <class Real_>
struct NumberType<IrNumberOf<Real_>> {
  using Real = Real_;
  using Word = IrWordOf<Real>;
};

#define RADDLE_IR_NUMBER_OPERATOR(op, Create)                            \
  template <class Real>                                                  \
  IrNumberOf<Real> operator op(IrNumberOf<Real> a, IrNumberOf<Real> b) { \
    return IrNumberOf<Real>(ir_builder->Create(a.value, b.value));       \
  }
RADDLE_IR_NUMBER_OPERATOR(+, CreateFAdd)
RADDLE_IR_NUMBER_OPERATOR(-, CreateFSub)
RADDLE_IR_NUMBER_OPERATOR(*, CreateFMul)
RADDLE_IR_NUMBER_OPERATOR(/, CreateFDiv)
#undef RADDLE_IR_NUMBER_OPERATOR
template <class Real>
IrNumberOf<Real> operator-(IrNumberOf<Real> a) {
  return IrNumberOf<Real>(ir_builder->CreateFNeg(a.value));
}
#define RADDLE_IR_COMPARISON(op, Create)                       \
  template <class Real>                                        \
  IrMask operator op(IrNumberOf<Real> a, IrNumberOf<Real> b) { \
    return {ir_builder->Create(a.value, b.value)};             \
  }
RADDLE_IR_COMPARISON(==, CreateFCmpOEQ)
RADDLE_IR_COMPARISON(<, CreateFCmpOLT)
RADDLE_IR_COMPARISON(<=, CreateFCmpOLE)
RADDLE_IR_COMPARISON(>, CreateFCmpOGT)
RADDLE_IR_COMPARISON(>=, CreateFCmpOGE)
#undef RADDLE_IR_COMPARISON

#define RADDLE_IR_WORD_OPERATOR(op, Create)                        \
  template <class Real>                                            \
  IrWordOf<Real> operator op(IrWordOf<Real> a, IrWordOf<Real> b) { \
    return IrWordOf<Real>(ir_builder->Create(a.value, b.value));   \
  }
RADDLE_IR_WORD_OPERATOR(+, CreateAdd)
RADDLE_IR_WORD_OPERATOR(-, CreateSub)
RADDLE_IR_WORD_OPERATOR(*, CreateMul)
RADDLE_IR_WORD_OPERATOR(&, CreateAnd)
RADDLE_IR_WORD_OPERATOR(|, CreateOr)
RADDLE_IR_WORD_OPERATOR(^, CreateXor)
RADDLE_IR_WORD_OPERATOR(<<, CreateShl)
RADDLE_IR_WORD_OPERATOR(>>, CreateLShr)
#undef RADDLE_IR_WORD_OPERATOR
template <class Real>
IrWordOf<Real> operator<<(IrWordOf<Real> a, int by) {
  return a << IrWordOf<Real>(by);
}
template <class Real>
IrWordOf<Real> operator>>(IrWordOf<Real> a, int by) {
  return a >> IrWordOf<Real>(by);
}
template <class Real>
IrMask operator==(IrWordOf<Real> a, IrWordOf<Real> b) {
  return {ir_builder->CreateICmpEQ(a.value, b.value)};
}

inline bool is_never(IrMask mask) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(mask.value);
  return constant != nullptr && constant->isNullValue();
}
// The builder computes what is constant only if both are: what never holds is looked for here, so that a constant
// divisor stays one.
inline IrMask operator&(IrMask a, IrMask b) {
  if (is_never(a)) return {a.value};
  return {is_never(b) ? b.value : ir_builder->CreateAnd(a.value, b.value)};
}
inline IrMask operator|(IrMask a, IrMask b) {
  if (is_never(a)) return {b.value};
  return {is_never(b) ? a.value : ir_builder->CreateOr(a.value, b.value)};
}
inline IrMask operator!(IrMask a) { return {ir_builder->CreateNot(a.value)}; }

template <class Real>
IrWordOf<Real> as_word(IrNumberOf<Real> x) {
  return IrWordOf<Real>(ir_builder->CreateBitCast(x.value, ir_word));
}
template <class Real>
IrNumberOf<Real> as_float(IrWordOf<Real> word) {
  return IrNumberOf<Real>(ir_builder->CreateBitCast(word.value, ir_number));
}
template <class Real>
IrNumberOf<Real> multiply_add(IrNumberOf<Real> a, IrNumberOf<Real> b, IrNumberOf<Real> c) {
  return IrNumberOf<Real>(ir_builder->CreateIntrinsic(llvm::Intrinsic::fma, {ir_number}, {a.value, b.value, c.value}));
}
template <class Real>
IrNumberOf<Real> square_root(IrNumberOf<Real> x) {
  return IrNumberOf<Real>(ir_builder->CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x.value));
}
template <class Real>
IrNumberOf<Real> load(const Real* table, IrWordOf<Real> index) {
  return IrNumberOf<Real>(ir_load(table, index.value));
}
template <class Real>
IrWordOf<Real> load(const typename FormatOfReal<Real>::Bits* table, IrWordOf<Real> index) {
  return IrWordOf<Real>(ir_load(table, index.value));
}

inline llvm::Value* ir_select(IrMask mask, llvm::Value* a, llvm::Value* b) {
  if (mask.from_yes == nullptr) return ir_builder->CreateSelect(mask.value, a, b);
  llvm::PHINode* joined = ir_builder->CreatePHI(a->getType(), 2);
  joined->addIncoming(a, mask.from_yes);
  joined->addIncoming(b, mask.from_no);
  return joined;
}
template <class Real>
IrNumberOf<Real> select(IrMask mask, IrNumberOf<Real> a, IrNumberOf<Real> b) {
  return IrNumberOf<Real>(ir_select(mask, a.value, b.value));
}
template <class Real>
IrWordOf<Real> select(IrMask mask, IrWordOf<Real> a, IrWordOf<Real> b) {
  return IrWordOf<Real>(ir_select(mask, a.value, b.value));
}

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
