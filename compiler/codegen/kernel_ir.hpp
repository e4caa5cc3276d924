#pragma once
// The numbers of kernels that emit LLVM (Note [operations] in vm/kernel/kernel_operations.hpp): of one value or of a
// vector, as IrScope says.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include "compiler/codegen/ir_number.hpp"
#include "compiler/codegen/math_to_llvm.hpp"
#include "vm/kernel/kernel_operations.hpp"

namespace raddle::codegen {

struct KernelIr {
  using Int = vm::math::IrWord;
  using Float = vm::math::IrNumber;
  using Mask = vm::math::IrMask;
  struct Array {};  ///< whoever emits loads elements

  static Int integer(std::int64_t number) { return Int(number); }
  static Mask equal(Int a, Int b) { return a == b; }
  static Mask less(Int a, Int b) { return {builder().CreateICmpSLT(a.value, b.value)}; }
  static Int select(Mask mask, Int a, Int b) {
    return is_never(mask) ? b : Int(builder().CreateSelect(mask.value, a.value, b.value));
  }
  static Mask not_equal(Mask a, Mask b) { return {builder().CreateXor(a.value, b.value)}; }
  static Float to_float(Int a) { return Float(builder().CreateSIToFP(a.value, vm::math::ir_number)); }
  /// Anything for what is no int.
  static Int truncate(Float x) {
    return Int(builder().CreateFreeze(builder().CreateFPToSI(x.value, vm::math::ir_word)));
  }
  static Int word_of(Int a) { return a; }
  static Int int_of(Int word) { return word; }
  static Int to_int(Mask a) { return Int(builder().CreateZExt(a.value, vm::math::ir_word)); }
  static Float rounded32(Float x) { return wide(narrow(x)); }
  static Float floor(Float x) { return unary(llvm::Intrinsic::floor, x); }
  static Float ceil(Float x) { return unary(llvm::Intrinsic::ceil, x); }
  static Float round(Float x) { return unary(llvm::Intrinsic::round, x); }
#define RADDLE_MATH_PARAMETERS_1 Float x
#define RADDLE_MATH_PARAMETERS_2 Float x, Float y
#define RADDLE_MATH_ARGUMENTS_1 x.value
#define RADDLE_MATH_ARGUMENTS_2 x.value, y.value
#define RADDLE_MATH_FUNCTION(name, count) \
  static Float name(RADDLE_MATH_PARAMETERS_##count) { return Float(call(#name, {RADDLE_MATH_ARGUMENTS_##count})); }
#include "vm/math/functions.def"
#undef RADDLE_MATH_FUNCTION
#undef RADDLE_MATH_ARGUMENTS_1
#undef RADDLE_MATH_ARGUMENTS_2
#define RADDLE_MATH_ARGUMENTS_1 narrow(x)
#define RADDLE_MATH_ARGUMENTS_2 narrow(x), narrow(y)
#define RADDLE_MATH_FUNCTION(name, count)                            \
  static Float name##_32(RADDLE_MATH_PARAMETERS_##count) {           \
    return wide(call(#name "_32", {RADDLE_MATH_ARGUMENTS_##count})); \
  }
#include "vm/math/functions32.def"
#undef RADDLE_MATH_FUNCTION
#undef RADDLE_MATH_PARAMETERS_1
#undef RADDLE_MATH_PARAMETERS_2
#undef RADDLE_MATH_ARGUMENTS_1
#undef RADDLE_MATH_ARGUMENTS_2

  /// Of lanes: with a constant a comparison tells, else the signs do.
  static Mask add_overflows(Int a, Int b, Int& sum) {
    if (!is_vector()) return checked(llvm::Intrinsic::sadd_with_overflow, a, b, sum);
    if (constant_of(a) != nullptr) std::swap(a, b);
    sum = a + b;
    if (const llvm::ConstantInt* constant = constant_of(b)) return constant->isNegative() ? less(a, sum) : less(sum, a);
    return is_negative((a ^ sum) & (b ^ sum));
  }
  static Mask sub_overflows(Int a, Int b, Int& rest) {
    if (!is_vector()) return checked(llvm::Intrinsic::ssub_with_overflow, a, b, rest);
    rest = a - b;
    if (const llvm::ConstantInt* constant = constant_of(b))
      return constant->isNegative() ? less(rest, a) : less(a, rest);
    return is_negative((a ^ b) & (a ^ rest));
  }
  /// Of lanes: processors do not tell the upper halves of products. With a constant the other factor's size tells, else
  /// the product of doubles, which is less than 2^-51 of itself away. So some products that would just fit count as
  /// failed: these points are computed once more, one by one.
  static Mask mul_overflows(Int a, Int b, Int& product) {
    if (!is_vector()) return checked(llvm::Intrinsic::smul_with_overflow, a, b, product);
    if (constant_of(a) != nullptr) std::swap(a, b);
    product = a * b;
    if (const llvm::ConstantInt* constant = constant_of(b)) {
      const std::uint64_t size = constant->getValue().abs().getZExtValue();
      const std::uint64_t limit = static_cast<std::uint64_t>(most) / std::max<std::uint64_t>(size, 1);
      return {builder().CreateICmpUGT((a + Int(limit)).value, Int(2 * limit).value)};
    }
    constexpr double nearly_too_large = 0x1p63 - 0x1p13;
    return vm::math::without_sign(to_float(a) * to_float(b)) >= Float(nearly_too_large);
  }
  static Int quotient(Int a, Int b) {
    return divides_itself(b) ? Int(builder().CreateSDiv(a.value, b.value)) : divide_lanes(a, b).quotient;
  }
  static Int remainder(Int a, Int b) {
    return divides_itself(b) ? Int(builder().CreateSRem(a.value, b.value)) : divide_lanes(a, b).rest;
  }

 private:
  static constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  static llvm::IRBuilder<>& builder() { return *vm::math::ir_builder; }
  static bool is_vector() { return vm::math::ir_number->isVectorTy(); }
  static Mask is_negative(Int a) { return less(a, Int(0)); }
  static Float unary(llvm::Intrinsic::ID intrinsic, Float x) {
    return Float(builder().CreateUnaryIntrinsic(intrinsic, x.value));
  }
  static llvm::Value* call(std::string_view name, llvm::SmallVector<llvm::Value*, 2> arguments) {
    llvm::Module& module = *builder().GetInsertBlock()->getModule();
    return builder().CreateCall(math_function(module, name, arguments[0]->getType()), arguments);
  }
  /// Rounded, in half the width.
  static llvm::Value* narrow(Float x) {
    return builder().CreateFPTrunc(x.value, vm::math::ir_number->getWithNewType(builder().getFloatTy()));
  }
  static Float wide(llvm::Value* narrow) { return Float(builder().CreateFPExt(narrow, vm::math::ir_number)); }
  static Mask checked(llvm::Intrinsic::ID intrinsic, Int a, Int b, Int& result) {
    llvm::Value* both = builder().CreateBinaryIntrinsic(intrinsic, a.value, b.value);
    result = Int(builder().CreateExtractValue(both, 0));
    return {builder().CreateExtractValue(both, 1)};
  }
  /// The number that all lanes of a constant are.
  static const llvm::ConstantInt* constant_of(Int a) {
    const auto* constant = llvm::dyn_cast<llvm::Constant>(a.value);
    return constant == nullptr ? nullptr : llvm::dyn_cast_or_null<llvm::ConstantInt>(constant->getSplatValue());
  }

  /// LLVM shifts lanes for a power of two. Else it takes them one by one, which is 2 to 4 times as fast as doubles
  /// where these are made of ints and back one by one, too.
  static bool divides_itself(Int by) {
    const llvm::ConstantInt* const constant = constant_of(by);
    const bool is_shift = constant != nullptr && constant->getValue().isPowerOf2() && !constant->isNegative();
    return !is_vector() || is_shift || !vm::math::ir_converts_words;
  }
  struct Division {
    Int quotient, rest;
  };
  /// No processor divides many ints at once. They can be multiplied by the divisor's reciprocal, as doubles: that gives
  /// the quotient up to some 2^11, and a second time, of what is left, up to 1, which the signs tell. Ints are cut off:
  /// what is left in the end has the sign of the dividend. All is modulo 2^64, so that what overflows on the way does
  /// not matter.
  static Division divide_lanes(Int a, Int b) {
    const Float reciprocal = Float(1.0) / to_float(b);
    constexpr double greatest_int = 0x1p63 - 0x1p10;  // that is a double
    const Int estimate = truncate(vm::math::least(to_float(a) * reciprocal, Float(greatest_int)));
    const Int left = a - estimate * b;
    const Int more = truncate(unary(llvm::Intrinsic::rint, to_float(left) * reciprocal));
    const Int rest = left - more * b, quotient = estimate + more;
    const Mask is_beyond = is_negative(rest ^ a) & !(rest == Int(0)), has_other_sign = is_negative(rest ^ b);
    return {select(is_beyond, select(has_other_sign, quotient - Int(1), quotient + Int(1)), quotient),
            select(is_beyond, select(has_other_sign, rest + b, rest - b), rest)};
  }
};

}  // namespace raddle::codegen
