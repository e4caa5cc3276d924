#include "compiler/codegen/operation_emitter.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "compiler/codegen/math_to_llvm.hpp"
#include "vm/program/leaf_abi.hpp"

namespace raddle::codegen {

using vm::KernelOp;
using vm::Place;

namespace {

constexpr std::int64_t least_int = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t most_int = std::numeric_limits<std::int64_t>::max();

unsigned lanes_of(llvm::Type* type) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return vector == nullptr ? 1 : vector->getNumElements();
}

/// The number that all lanes of a constant are.
const llvm::ConstantInt* constant_of(const llvm::Value* value) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(value);
  if (constant != nullptr && value->getType()->isVectorTy()) constant = constant->getSplatValue();
  return constant == nullptr ? nullptr : llvm::dyn_cast<llvm::ConstantInt>(constant);
}

}  // namespace

llvm::Value* OperationEmitter::splat(llvm::Value* value, llvm::Type* like) {
  const unsigned lanes = lanes_of(like);
  return lanes == lanes_of(value->getType()) ? value : builder_.CreateVectorSplat(lanes, value);
}

llvm::Value* OperationEmitter::to_float(llvm::Value* value) {
  return builder_.CreateSIToFP(value, value->getType()->getWithNewType(builder_.getDoubleTy()));
}

llvm::Value* OperationEmitter::emit_operation(const vm::KernelInstruction& instruction,
                                              std::span<llvm::Value* const> given) {
  std::array<llvm::Value*, 3> inputs = {};
  const auto* const longest = std::ranges::max_element(
      given.data(), given.data() + given.size(), {}, [](const llvm::Value* value) { return lanes_of(value->getType()); });
  for (std::size_t i = 0; i < given.size(); ++i) inputs.at(i) = splat(given[i], (*longest)->getType());
  const auto& [a, b, c] = inputs;
  const Place& place = instruction.place;
  const auto compare = [&](Predicate predicate) { return builder_.CreateCmp(predicate, a, b); };
  const auto unary = [&](llvm::Intrinsic::ID intrinsic) { return builder_.CreateUnaryIntrinsic(intrinsic, a); };
  const auto asserted = [&](Predicate predicate) {
    assert_that(compare(predicate), place);
    return nullptr;
  };
  switch (instruction.op) {
    case KernelOp::copy: return a;
    case KernelOp::add_int: return add(a, b, place);
    case KernelOp::sub_int: return subtract(a, b, place);
    case KernelOp::neg_int: return subtract(llvm::Constant::getNullValue(a->getType()), a, place);
    case KernelOp::mul_int: return multiply(a, b, place);
    case KernelOp::abs_int:
      fail_if(builder_.CreateICmpEQ(a, splat(int_constant(least_int), a->getType())), raddle_leaf_integer_overflow,
              place);
      return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, a, builder_.getFalse());
    case KernelOp::idiv: return divide(/*wants_rest=*/false, a, b, place);
    case KernelOp::mod: return divide(/*wants_rest=*/true, a, b, place);
    case KernelOp::max_int: return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, a, b);
    case KernelOp::min_int: return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b);
    case KernelOp::add_float: return builder_.CreateFAdd(a, b);
    case KernelOp::sub_float: return builder_.CreateFSub(a, b);
    case KernelOp::mul_float: return builder_.CreateFMul(a, b);
    case KernelOp::div_float: return builder_.CreateFDiv(a, b);
    case KernelOp::neg_float: return builder_.CreateFNeg(a);
    case KernelOp::abs_float: return unary(llvm::Intrinsic::fabs);
    case KernelOp::max_float: return extreme(Predicate::FCMP_OGT, a, b);
    case KernelOp::min_float: return extreme(Predicate::FCMP_OLT, a, b);
    case KernelOp::mul_add: return fused(a, b, c);
    case KernelOp::mul_sub: return fused(a, b, builder_.CreateFNeg(c));
    case KernelOp::sub_mul: return fused(builder_.CreateFNeg(a), b, c);
    case KernelOp::eq_boolean:
    case KernelOp::eq_int: return compare(Predicate::ICMP_EQ);
    case KernelOp::ne_boolean:
    case KernelOp::ne_int: return compare(Predicate::ICMP_NE);
    case KernelOp::lt_int: return compare(Predicate::ICMP_SLT);
    case KernelOp::le_int: return compare(Predicate::ICMP_SLE);
    case KernelOp::eq_float: return compare(Predicate::FCMP_OEQ);
    case KernelOp::ne_float: return compare(Predicate::FCMP_UNE);
    case KernelOp::lt_float: return compare(Predicate::FCMP_OLT);
    case KernelOp::le_float: return compare(Predicate::FCMP_OLE);
    case KernelOp::and_: return builder_.CreateAnd(a, b);
    case KernelOp::or_: return builder_.CreateOr(a, b);
    case KernelOp::not_: return builder_.CreateNot(a);
    case KernelOp::int_to_float: return to_float(a);
    case KernelOp::float_to_int: return float_to_int(a, place);
    case KernelOp::bool_to_int: return builder_.CreateZExt(a, a->getType()->getWithNewType(builder_.getInt64Ty()));
    case KernelOp::is_nan: return builder_.CreateFCmpUNO(a, a);
    case KernelOp::floor: return unary(llvm::Intrinsic::floor);
    case KernelOp::ceil: return unary(llvm::Intrinsic::ceil);
    case KernelOp::round: return unary(llvm::Intrinsic::round);
    case KernelOp::assert_true: assert_that(a, place); return nullptr;
    case KernelOp::assert_equal_int:
    case KernelOp::assert_equal_boolean: return asserted(Predicate::ICMP_EQ);
    case KernelOp::assert_equal_float: return asserted(Predicate::FCMP_OEQ);
    case KernelOp::assert_less_int: return asserted(Predicate::ICMP_SLT);
    case KernelOp::assert_less_float: return asserted(Predicate::FCMP_OLT);
    case KernelOp::assert_not_greater_int: return asserted(Predicate::ICMP_SLE);
    case KernelOp::assert_not_greater_float: return asserted(Predicate::FCMP_OLE);
    default: return mathematics(instruction, std::span(inputs).first(given.size()));
  }
}

void OperationEmitter::assert_that(llvm::Value* holds, const Place& place) {
  fail_if(builder_.CreateNot(holds), raddle_leaf_assertion, place);
}

// One instruction where the processor has it; else the C library computes the same bits.
llvm::Value* OperationEmitter::fused(llvm::Value* left, llvm::Value* right, llvm::Value* addend) {
  return builder_.CreateIntrinsic(llvm::Intrinsic::fma, {left->getType()}, {left, right, addend});
}

// ---- ints ----

llvm::Value* OperationEmitter::checked(llvm::Intrinsic::ID intrinsic, llvm::Value* left, llvm::Value* right,
                                       const Place& place) {
  llvm::Value* both = builder_.CreateBinaryIntrinsic(intrinsic, left, right);
  fail_if(builder_.CreateExtractValue(both, 1), raddle_leaf_integer_overflow, place);
  return builder_.CreateExtractValue(both, 0);
}

/// Of lanes: with a constant a comparison tells, else the signs do.
llvm::Value* OperationEmitter::add(llvm::Value* left, llvm::Value* right, const Place& place) {
  if (!left->getType()->isVectorTy()) return checked(llvm::Intrinsic::sadd_with_overflow, left, right, place);
  if (constant_of(left) != nullptr) std::swap(left, right);
  llvm::Value* sum = builder_.CreateAdd(left, right);
  llvm::Value* failed = nullptr;
  if (const llvm::ConstantInt* constant = constant_of(right)) {
    failed = builder_.CreateICmp(constant->isNegative() ? Predicate::ICMP_SGT : Predicate::ICMP_SLT, sum, left);
  } else {
    llvm::Value* signs = builder_.CreateAnd(builder_.CreateXor(left, sum), builder_.CreateXor(right, sum));
    failed = builder_.CreateICmpSLT(signs, llvm::Constant::getNullValue(sum->getType()));
  }
  fail_if(failed, raddle_leaf_integer_overflow, place);
  return sum;
}

llvm::Value* OperationEmitter::subtract(llvm::Value* left, llvm::Value* right, const Place& place) {
  if (!left->getType()->isVectorTy()) return checked(llvm::Intrinsic::ssub_with_overflow, left, right, place);
  llvm::Value* rest = builder_.CreateSub(left, right);
  llvm::Value* failed = nullptr;
  if (const llvm::ConstantInt* constant = constant_of(right)) {
    failed = builder_.CreateICmp(constant->isNegative() ? Predicate::ICMP_SLT : Predicate::ICMP_SGT, rest, left);
  } else {
    llvm::Value* signs = builder_.CreateAnd(builder_.CreateXor(left, right), builder_.CreateXor(left, rest));
    failed = builder_.CreateICmpSLT(signs, llvm::Constant::getNullValue(rest->getType()));
  }
  fail_if(failed, raddle_leaf_integer_overflow, place);
  return rest;
}

/// Of lanes: processors do not tell the upper halves of products. With a constant the other factor's size tells, else
/// the product of doubles, which is less than 2^-51 of itself away. So some products that would just fit count as
/// failed: these points are computed once more, one by one.
llvm::Value* OperationEmitter::multiply(llvm::Value* left, llvm::Value* right, const Place& place) {
  if (!left->getType()->isVectorTy()) return checked(llvm::Intrinsic::smul_with_overflow, left, right, place);
  if (constant_of(left) != nullptr) std::swap(left, right);
  llvm::Type* type = left->getType();
  llvm::Value* failed = nullptr;
  if (const llvm::ConstantInt* constant = constant_of(right)) {
    const std::uint64_t size = constant->getValue().abs().getZExtValue();
    const std::uint64_t most = static_cast<std::uint64_t>(most_int) / std::max<std::uint64_t>(size, 1);
    llvm::Value* above = builder_.CreateAdd(left, llvm::ConstantInt::get(type, most));
    failed = builder_.CreateICmpUGT(above, llvm::ConstantInt::get(type, 2 * most));
  } else {
    constexpr double nearly_too_large = 9223372036854775808.0 - 8192.0;
    llvm::Value* product = builder_.CreateFMul(to_float(left), to_float(right));
    failed = builder_.CreateFCmpOGE(builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, product),
                                    llvm::ConstantFP::get(product->getType(), nearly_too_large));
  }
  fail_if(failed, raddle_leaf_integer_overflow, place);
  return builder_.CreateMul(left, right);
}

/// The least int by -1 is the one quotient that overflows, and a trap on x86, also for the remainder, which is 0.
llvm::Value* OperationEmitter::divide(bool wants_rest, llvm::Value* left, llvm::Value* right, const Place& place) {
  llvm::Type* type = left->getType();
  llvm::Value* by_zero = builder_.CreateIsNull(right);
  fail_if(by_zero, raddle_leaf_division_by_zero, place);
  const auto overflows = [&] {
    return builder_.CreateAnd(builder_.CreateICmpEQ(right, splat(int_constant(-1), type)),
                              builder_.CreateICmpEQ(left, splat(int_constant(least_int), type)));
  };
  if (!wants_rest) fail_if(overflows(), raddle_leaf_integer_overflow, place);
  if (type->isVectorTy()) return divide_lanes(wants_rest, left, right);
  llvm::Value* unsafe = wants_rest ? builder_.CreateICmpEQ(right, int_constant(-1))
                        : leaves_when_failed() ? builder_.getFalse()
                                               : overflows();
  if (!leaves_when_failed()) unsafe = builder_.CreateOr(unsafe, by_zero);
  llvm::Value* divisor = builder_.CreateSelect(unsafe, int_constant(1), right);
  return wants_rest ? builder_.CreateSRem(left, divisor) : builder_.CreateSDiv(left, divisor);
}

/// No processor divides many ints at once. So they are multiplied by the divisor's reciprocal, as doubles: that gives the
/// quotient up to some 2^11, and a second time, of what is left, up to 1, which the signs tell. Ints are cut off: what
/// is left in the end has the sign of the dividend. All is modulo 2^64, so that what overflows on the way does not matter.
llvm::Value* OperationEmitter::divide_lanes(bool wants_rest, llvm::Value* left, llvm::Value* right) {
  llvm::Type* type = left->getType();
  llvm::Value* divisor = to_float(right);
  llvm::Value* reciprocal = builder_.CreateFDiv(llvm::ConstantFP::get(divisor->getType(), 1.0), divisor);
  const auto whole = [&](llvm::Value* number) {  // anything for what is no int
    return builder_.CreateFreeze(builder_.CreateFPToSI(number, type));
  };
  constexpr double most = 9223372036854774784.0;  // the greatest double that is an int
  llvm::Value* estimate = builder_.CreateFMul(to_float(left), reciprocal);
  llvm::Value* limit = llvm::ConstantFP::get(divisor->getType(), most);
  llvm::Value* is_below = builder_.CreateFCmpOLT(estimate, limit);
  llvm::Value* quotient = whole(builder_.CreateSelect(is_below, estimate, limit));
  llvm::Value* rest = builder_.CreateSub(left, builder_.CreateMul(quotient, right));
  llvm::Value* more = whole(
      builder_.CreateUnaryIntrinsic(llvm::Intrinsic::rint, builder_.CreateFMul(to_float(rest), reciprocal)));
  rest = builder_.CreateSub(rest, builder_.CreateMul(more, right));
  llvm::Value* zero = llvm::Constant::getNullValue(type);
  llvm::Value* is_beyond = builder_.CreateAnd(builder_.CreateICmpSLT(builder_.CreateXor(rest, left), zero),
                                              builder_.CreateICmpNE(rest, zero));
  llvm::Value* has_other_sign = builder_.CreateICmpSLT(builder_.CreateXor(rest, right), zero);
  if (wants_rest) {
    llvm::Value* mended = builder_.CreateSelect(has_other_sign, builder_.CreateAdd(rest, right),
                                                builder_.CreateSub(rest, right));
    return builder_.CreateSelect(is_beyond, mended, rest);
  }
  quotient = builder_.CreateAdd(quotient, more);
  llvm::Value* one = llvm::ConstantInt::get(type, 1);
  llvm::Value* mended = builder_.CreateSelect(has_other_sign, builder_.CreateSub(quotient, one),
                                              builder_.CreateAdd(quotient, one));
  return builder_.CreateSelect(is_beyond, mended, quotient);
}

// ---- floats ----

/// NaN if either is; of two zeros the right one. As stdlib/native/math.cpp has it.
llvm::Value* OperationEmitter::extreme(Predicate wins, llvm::Value* left, llvm::Value* right) {
  llvm::Value* takes_left =
      builder_.CreateOr(builder_.CreateFCmpUNO(left, left), builder_.CreateFCmp(wins, left, right));
  return builder_.CreateSelect(takes_left, left, right);
}

/// Truncates. Below -2^63, from 2^63 on, and NaN there is no such int; 2^63 is a float, 2^63 - 1 is not.
llvm::Value* OperationEmitter::float_to_int(llvm::Value* number, const Place& place) {
  constexpr double end = 9223372036854775808.0;
  llvm::Value* too_small = builder_.CreateFCmpULT(number, llvm::ConstantFP::get(number->getType(), -end));
  llvm::Value* too_large = builder_.CreateFCmpUGE(number, llvm::ConstantFP::get(number->getType(), end));
  fail_if(builder_.CreateOr(too_small, too_large), raddle_leaf_domain_error, place);
  return builder_.CreateFreeze(
      builder_.CreateFPToSI(number, number->getType()->getWithNewType(builder_.getInt64Ty())));
}

llvm::Value* OperationEmitter::mathematics(const vm::KernelInstruction& instruction,
                                           std::span<llvm::Value* const> inputs) {
  const vm::KernelOpInfo& info = vm::info(instruction.op);
  llvm::SmallVector<llvm::Value*, 2> arguments(inputs.begin(), inputs.end());
  if (instruction.op == KernelOp::pow_int)
    for (llvm::Value*& argument : arguments) argument = to_float(argument);
  llvm::Value* result = nullptr;
  if (instruction.op == KernelOp::sqrt) {
    result = builder_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, arguments[0]);
  } else {
    const bool is_power = instruction.op == KernelOp::pow_float || instruction.op == KernelOp::pow_int;
    const unsigned lanes = lanes_of(arguments[0]->getType());
    result = builder_.CreateCall(math_function(out_, is_power ? "pow" : info.text, lanes), arguments);
  }
  if (info.failure == vm::KernelFailure::domain) {
    llvm::Value* of_numbers = builder_.CreateFCmpORD(arguments.front(), arguments.back());
    fail_if(builder_.CreateAnd(of_numbers, builder_.CreateFCmpUNO(result, result)), raddle_leaf_domain_error, instruction.place);
  }
  return result;
}

}  // namespace raddle::codegen
