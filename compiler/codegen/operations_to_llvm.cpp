// Arithmetic, comparisons, elements, library functions.
#include <limits>
#include <optional>
#include <utility>

#include "compiler/codegen/function_emitter.hpp"
#include "compiler/codegen/math_to_llvm.hpp"

namespace raddle::codegen {

using ir::OpKind;
using llvm::Intrinsic::ID;

// One instruction where the processor has it; else the C library computes the same bits.
void FunctionEmitter::emit_fused(const ir::Op& op) {
  llvm::Value* factor = word(op.operands.at(0));
  llvm::Value* addend = word(op.operands.at(2));
  if (op.kind == OpKind::sub_mul) factor = builder_.CreateFNeg(factor);
  if (op.kind == OpKind::mul_sub) addend = builder_.CreateFNeg(addend);
  llvm::Value* operands[] = {factor, word(op.operands.at(1)), addend};
  assign(op, builder_.CreateIntrinsic(llvm::Intrinsic::fma, {builder_.getDoubleTy()}, operands));
}

void FunctionEmitter::emit_arithmetic(const ir::Op& op) {
  if (kind(op.operands.at(0)) == TypeKind::int_) {
    if (op.kind == OpKind::sub || op.kind == OpKind::neg)
      return emit_checked_int(op, llvm::Intrinsic::ssub_with_overflow);
    if (op.kind == OpKind::add) return emit_checked_int(op, llvm::Intrinsic::sadd_with_overflow);
    if (op.kind == OpKind::mul) return emit_checked_int(op, llvm::Intrinsic::smul_with_overflow);
    return module_.refuse("an operation on ints of the wrong type");
  }
  llvm::Value* left = word(op.operands.at(0));
  if (op.kind == OpKind::neg) return assign(op, builder_.CreateFNeg(left));
  llvm::Value* right = word(op.operands.at(1));
  if (op.kind == OpKind::add) return assign(op, builder_.CreateFAdd(left, right));
  if (op.kind == OpKind::sub) return assign(op, builder_.CreateFSub(left, right));
  if (op.kind == OpKind::mul) return assign(op, builder_.CreateFMul(left, right));
  if (op.kind == OpKind::div) return assign(op, builder_.CreateFDiv(left, right));
  assign(op, call_math("pow", {left, right}));
}

void FunctionEmitter::emit_checked_int(const ir::Op& op, ID intrinsic) {
  llvm::Value* left = op.kind == OpKind::neg ? int_constant(0) : word(op.operands.at(0));
  llvm::Value* right = word(op.operands.back());
  llvm::Value* both = builder_.CreateBinaryIntrinsic(intrinsic, left, right);
  fail_if(builder_.CreateExtractValue(both, 1), raddle_leaf_integer_overflow, op.span);
  assign(op, builder_.CreateExtractValue(both, 0));
}

/// The least int by -1 is the one quotient that overflows, and a trap on x86, also for the remainder, which is 0.
void FunctionEmitter::emit_division(const ir::Op& op) {
  llvm::Value* left = word(op.operands.at(0));
  llvm::Value* right = word(op.operands.at(1));
  fail_if(builder_.CreateIsNull(right), raddle_leaf_division_by_zero, op.span);
  llvm::Value* by_minus_one = builder_.CreateICmpEQ(right, int_constant(-1));
  if (op.kind == OpKind::mod) {
    return assign(op, builder_.CreateSRem(left, builder_.CreateSelect(by_minus_one, int_constant(1), right)));
  }
  llvm::Value* least = builder_.CreateICmpEQ(left, int_constant(std::numeric_limits<std::int64_t>::min()));
  fail_if(builder_.CreateAnd(by_minus_one, least), raddle_leaf_integer_overflow, op.span);
  assign(op, builder_.CreateSDiv(left, right));
}

void FunctionEmitter::emit_comparison(const ir::Op& op) {
  using Predicate = llvm::CmpInst::Predicate;
  struct Predicates {
    Predicate of_ints, of_floats;
  };
  const Predicates predicates = [&]() -> Predicates {
    if (op.kind == OpKind::eq) return {Predicate::ICMP_EQ, Predicate::FCMP_OEQ};
    if (op.kind == OpKind::ne) return {Predicate::ICMP_NE, Predicate::FCMP_UNE};
    if (op.kind == OpKind::lt) return {Predicate::ICMP_SLT, Predicate::FCMP_OLT};
    if (op.kind == OpKind::le) return {Predicate::ICMP_SLE, Predicate::FCMP_OLE};
    if (op.kind == OpKind::gt) return {Predicate::ICMP_SGT, Predicate::FCMP_OGT};
    return {Predicate::ICMP_SGE, Predicate::FCMP_OGE};
  }();
  const TypeKind kind = this->kind(op.operands.at(0));
  if (kind == TypeKind::boolean && op.kind != OpKind::eq && op.kind != OpKind::ne) {
    return module_.refuse("booleans compared by order");
  }
  const Predicate predicate = kind == TypeKind::float_ ? predicates.of_floats : predicates.of_ints;
  assign(op, builder_.CreateCmp(predicate, word(op.operands.at(0)), word(op.operands.at(1))));
}

void FunctionEmitter::emit_array_get(const ir::Op& op) {
  const LeafValue array = read(op.operands.at(0));
  llvm::Value* index = word(op.operands.at(1));
  if (!array.length) return module_.refuse("an element of something that is no array");
  llvm::Value* const detail[] = {index, builder_.CreatePtrToInt(array.word, builder_.getInt64Ty())};
  fail_if(builder_.CreateICmpUGE(index, array.length), raddle_leaf_index_out_of_range, op.span, detail);
  const TypeKind element = module_.element_kind(source_.variables.at(op.operands.at(0).index).type);
  llvm::Type* stored = element == TypeKind::float_ ? builder_.getDoubleTy()
                       : element == TypeKind::int_ ? llvm::Type::getInt64Ty(module_.llvm_context)
                                                   : llvm::Type::getInt8Ty(module_.llvm_context);
  llvm::LoadInst* value = builder_.CreateLoad(stored, builder_.CreateInBoundsGEP(stored, array.word, index));
  value->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(module_.llvm_context, {}));
  assign(op, element == TypeKind::boolean ? builder_.CreateIsNotNull(value) : value);
}

std::optional<LeafBuiltin> ModuleEmitter::builtin_of(const ir::Function& function, const ir::Op& op) const {
  std::vector<TypeId> types;
  for (ir::Operand operand : op.operands) types.push_back(ir::type_of(ir_module(), function, operand));
  return leaf_builtin(*ir_module().types, source.builtin_name(op.callee), types);
}

void FunctionEmitter::emit_builtin(const ir::Op& op) {
  const std::optional<LeafBuiltin> builtin = module_.builtin_of(source_, op);
  if (!builtin) {
    const std::string name(module_.source.builtin_name(op.callee));
    return module_.refuse("a call of `" + name + "`, which only the interpreter knows");
  }
  if (failure_of(*builtin) == LeafBuiltinFailure::assertion) return emit_assertion(*builtin, op);
  llvm::Value* result = builtin_value(*builtin, op);
  if (failure_of(*builtin) == LeafBuiltinFailure::domain) {
    llvm::Value* of_numbers = builder_.CreateFCmpORD(word(op.operands.front()), word(op.operands.back()));
    fail_if(builder_.CreateAnd(of_numbers, builder_.CreateFCmpUNO(result, result)), raddle_leaf_domain_error, op.span);
  }
  assign(op, result);
}

llvm::Value* FunctionEmitter::builtin_value(LeafBuiltin builtin, const ir::Op& op) {
  llvm::Type* floating = builder_.getDoubleTy();
  const auto argument = [&](std::size_t i) { return word(op.operands.at(i)); };
  const auto unary = [&](ID intrinsic) { return builder_.CreateUnaryIntrinsic(intrinsic, argument(0)); };
  const auto to_float = [&](std::size_t i) { return builder_.CreateSIToFP(argument(i), floating); };
  switch (builtin) {
    case LeafBuiltin::sqrt: return unary(llvm::Intrinsic::sqrt);
    case LeafBuiltin::floor: return unary(llvm::Intrinsic::floor);
    case LeafBuiltin::ceil: return unary(llvm::Intrinsic::ceil);
    case LeafBuiltin::round: return unary(llvm::Intrinsic::round);
    case LeafBuiltin::abs_float: return unary(llvm::Intrinsic::fabs);
    case LeafBuiltin::exp: return call_math("exp", {argument(0)});
    case LeafBuiltin::exp2: return call_math("exp2", {argument(0)});
    case LeafBuiltin::expm1: return call_math("expm1", {argument(0)});
    case LeafBuiltin::log: return call_math("log", {argument(0)});
    case LeafBuiltin::log2: return call_math("log2", {argument(0)});
    case LeafBuiltin::log10: return call_math("log10", {argument(0)});
    case LeafBuiltin::log1p: return call_math("log1p", {argument(0)});
    case LeafBuiltin::sin: return call_math("sin", {argument(0)});
    case LeafBuiltin::cos: return call_math("cos", {argument(0)});
    case LeafBuiltin::tan: return call_math("tan", {argument(0)});
    case LeafBuiltin::asin: return call_math("asin", {argument(0)});
    case LeafBuiltin::acos: return call_math("acos", {argument(0)});
    case LeafBuiltin::atan: return call_math("atan", {argument(0)});
    case LeafBuiltin::sinh: return call_math("sinh", {argument(0)});
    case LeafBuiltin::cosh: return call_math("cosh", {argument(0)});
    case LeafBuiltin::tanh: return call_math("tanh", {argument(0)});
    case LeafBuiltin::cbrt: return call_math("cbrt", {argument(0)});
    case LeafBuiltin::erf: return call_math("erf", {argument(0)});
    case LeafBuiltin::erfc: return call_math("erfc", {argument(0)});
    case LeafBuiltin::atan2: return call_math("atan2", {argument(0), argument(1)});
    case LeafBuiltin::hypot: return call_math("hypot", {argument(0), argument(1)});
    case LeafBuiltin::pow_float: return call_math("pow", {argument(0), argument(1)});
    case LeafBuiltin::pow_int: return call_math("pow", {to_float(0), to_float(1)});
    case LeafBuiltin::abs_int: {
      fail_if(builder_.CreateICmpEQ(argument(0), int_constant(std::numeric_limits<std::int64_t>::min())),
              raddle_leaf_integer_overflow, op.span);
      return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, argument(0), builder_.getTrue());
    }
    case LeafBuiltin::max_int: return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, argument(0), argument(1));
    case LeafBuiltin::min_int: return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, argument(0), argument(1));
    case LeafBuiltin::max_float: return extreme(argument(0), argument(1), llvm::CmpInst::FCMP_OGT);
    case LeafBuiltin::min_float: return extreme(argument(0), argument(1), llvm::CmpInst::FCMP_OLT);
    case LeafBuiltin::is_nan: return builder_.CreateFCmpUNO(argument(0), argument(0));
    case LeafBuiltin::int_to_float: return to_float(0);
    case LeafBuiltin::float_to_int: return float_to_int(argument(0), op.span);
    case LeafBuiltin::bool_to_int: return builder_.CreateZExt(argument(0), builder_.getInt64Ty());
    case LeafBuiltin::exclusive_or: return builder_.CreateXor(argument(0), argument(1));
    case LeafBuiltin::size: return read(op.operands.at(0)).length;
    case LeafBuiltin::assert_true:
    case LeafBuiltin::assert_equal:
    case LeafBuiltin::assert_less:
    case LeafBuiltin::assert_not_greater: break;  // emit_assertion
  }
  std::unreachable();
}

void FunctionEmitter::emit_assertion(LeafBuiltin builtin, const ir::Op& op) {
  llvm::Value* holds = word(op.operands.at(0));
  if (builtin != LeafBuiltin::assert_true) {
    using Predicate = llvm::CmpInst::Predicate;
    const bool floats = kind(op.operands.at(0)) == TypeKind::float_;
    Predicate predicate = floats ? Predicate::FCMP_OEQ : Predicate::ICMP_EQ;
    if (builtin == LeafBuiltin::assert_less) predicate = floats ? Predicate::FCMP_OLT : Predicate::ICMP_SLT;
    if (builtin == LeafBuiltin::assert_not_greater) predicate = floats ? Predicate::FCMP_OLE : Predicate::ICMP_SLE;
    holds = builder_.CreateCmp(predicate, holds, word(op.operands.at(1)));
  }
  fail_if(builder_.CreateNot(holds), raddle_leaf_assertion, op.span);
}

/// NaN if either is; of two zeros the right one. As stdlib/native/math.cpp has it.
llvm::Value* FunctionEmitter::extreme(llvm::Value* left, llvm::Value* right, llvm::CmpInst::Predicate wins) {
  llvm::Value* takes_left =
      builder_.CreateOr(builder_.CreateFCmpUNO(left, left), builder_.CreateFCmp(wins, left, right));
  return builder_.CreateSelect(takes_left, left, right);
}

/// Truncates. Below -2^63, from 2^63 on, and NaN there is no such int; 2^63 is a float, 2^63 - 1 is not.
llvm::Value* FunctionEmitter::float_to_int(llvm::Value* number, Span span) {
  constexpr double end = 9223372036854775808.0;
  llvm::Type* floating = builder_.getDoubleTy();
  llvm::Value* too_small = builder_.CreateFCmpULT(number, llvm::ConstantFP::get(floating, -end));
  llvm::Value* too_large = builder_.CreateFCmpUGE(number, llvm::ConstantFP::get(floating, end));
  fail_if(builder_.CreateOr(too_small, too_large), raddle_leaf_domain_error, span);
  return builder_.CreateFPToSI(number, builder_.getInt64Ty());
}

llvm::Value* FunctionEmitter::call_math(std::string_view name, std::vector<llvm::Value*> arguments) {
  return builder_.CreateCall(math_function(module_.out, name), arguments);
}

}  // namespace raddle::codegen
