#pragma once
// Leaf functions in their one form: a plain value that prints, reads back, compares and can be written to bytes.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vm/value/failure.hpp"

namespace raddle::vm {

/// Note [kernels]. A kernel computes scalars from scalars and dense arrays. What runs it is made of it: code for the
/// scalar machine, runs of the lane machine, machine code by LLVM. It says what is computed, in which order, and where
/// in the script, which is told if it fails. Kernels have no effects but calls of C functions, after which nothing
/// may fail: what fails is interpreted in frames, from its beginning, for the words of the message.
///
/// Registers: the parameters, then the constants, then all others. Arrays are in registers of parameters, of variables
/// of loops, and of what makes own arrays. A register is assigned on every path before it is read, and by one
/// instruction of a path: more than once only where each branch assigns it. Variables of loops are assigned by their
/// loop.
///
/// Blocks: number 0 is the body. Each other one is the arm of one `if`, the test or body of one `loop` or the body of
/// one `each`, and comes after the block that this is in.
enum class KernelType : std::uint8_t {
  int_,
  float_,
  boolean,
  int32,
  float32,
  ints,  ///< from here on: arrays of these
  floats,
  booleans,
  int32s,
  float32s,
};

constexpr bool is_array(KernelType type) { return type >= KernelType::ints; }
/// @pre is_array(type)
constexpr KernelType element_of(KernelType type) {
  return static_cast<KernelType>(static_cast<std::uint8_t>(type) - static_cast<std::uint8_t>(KernelType::ints));
}
/// @pre not is_array(element)
constexpr KernelType array_of(KernelType element) {
  return static_cast<KernelType>(static_cast<std::uint8_t>(element) + static_cast<std::uint8_t>(KernelType::ints));
}
/// Words of leaf_abi.hpp.
constexpr std::size_t words_of(KernelType type) { return is_array(type) ? 2 : 1; }
const char* text_of(KernelType type);

enum class KernelOp : std::uint8_t {
#define RADDLE_KERNEL_OP(name, inputs, result, failure) name,
#define RADDLE_KERNEL_MEMORY(name, inputs, result, failure) name,
#define RADDLE_KERNEL_CONTROL(name) name,
#include "vm/kernel/kernel_ops.def"
};

/// What may be wrong with the inputs of an operation; see kernel_ops.def.
enum class KernelFailure : std::uint8_t { nothing, overflow, division, index, extent, domain, assertion, memory };
/// Functions of the library that fail so are given what is told then, behind what they look at: kernels leave it away.
constexpr bool has_message(KernelFailure failure) {
  return failure == KernelFailure::assertion || failure == KernelFailure::extent;
}

struct KernelOpInfo {
  std::string_view text;
  std::string_view inputs;  ///< letters as in kernel_ops.def; of control operations nothing
  char result;
  KernelFailure failure;  ///< that it may fail with; `division` with overflow, too
};
const KernelOpInfo& info(KernelOp op);
/// The operation for elements of this type. @param element  no array
KernelOp get_of(KernelType element);
KernelOp put_of(KernelType element);
KernelOp new_of(KernelType element);
/// It is `get_of` some type.
bool is_get(KernelOp op);
bool is_put(KernelOp op);
bool is_new(KernelOp op);
/// Whether a register of this type can be an input with this letter.
bool matches(char letter, KernelType type);
constexpr bool is_control(KernelOp op) { return op >= KernelOp::if_; }

/// The operation that a library function is for operands of these types, of which a string at the end is none.
/// @return  `if_` if there is none
KernelOp operation_of_function(std::string_view library_function, std::span<const KernelType> inputs);

/// What many numbers come to.
enum class KernelReducer : std::uint8_t {
#define RADDLE_KERNEL_REDUCER(name) name,
#include "vm/kernel/kernel_ops.def"
};
constexpr KernelReducer kernel_reducers[] = {
#define RADDLE_KERNEL_REDUCER(name) KernelReducer::name,
#include "vm/kernel/kernel_ops.def"
};
const char* text_of(KernelReducer reducer);
/// @return  none: the library function reduces nothing
std::optional<KernelReducer> reducer_of_function(std::string_view library_function);
/// The type of what numbers of this type come to. @param type  int_ or float_
KernelType result_of(KernelReducer reducer, KernelType type);

using KernelRegister = std::uint32_t;
using KernelBlockId = std::uint32_t;
using KernelId = std::uint32_t;
inline constexpr std::uint32_t no_kernel_part = ~0u;  ///< where a register, block or kernel is absent

struct KernelInstruction {
  KernelOp op = KernelOp::copy;
  KernelRegister result = no_kernel_part;  ///< of control operations and of those without a result absent
  std::array<KernelRegister, 3> inputs = {no_kernel_part, no_kernel_part, no_kernel_part};  ///< `if`: the condition
  /// Of control operations: among Kernel::branches, loops, calls, reductions, foreign_calls, eaches.
  std::uint32_t index = 0;
  Place place;
  bool operator==(const KernelInstruction&) const = default;
};

struct KernelBranch {
  KernelBlockId then_block = no_kernel_part, else_block = no_kernel_part;  ///< the latter may be absent
  bool operator==(const KernelBranch&) const = default;
};

/// Variables take the values of `initial`, all at once. Then, over and over: the test block; if `condition` is false
/// the loop is over; the body block; the variables take the values of `next`, all at once. With `test_after`: test
/// block, body block; if `condition` is true the loop is over; `next`.
/// The variables keep their values when the loop is over.
struct KernelLoop {
  std::vector<KernelRegister> variables, initial, next;
  KernelBlockId test_block = no_kernel_part, body_block = no_kernel_part;
  KernelRegister condition = no_kernel_part;
  bool test_after = false;
  bool operator==(const KernelLoop&) const = default;
};

/// Of another kernel, or of this one.
struct KernelCall {
  KernelId kernel = no_kernel_part;  ///< a function of the program, or an index of KernelGroup
  std::vector<KernelRegister> inputs, results;
  bool operator==(const KernelCall&) const = default;
};

/// Note [reductions]. What another kernel, never this one, gives for the points 0 to count - 1 is reduced: to the last
/// bit as the library function does it with an array of these numbers, which there is none of here. The other kernel's
/// first parameter is the point, its one output the number. It is called for blocks of numbers:
/// vm/kernel/reduce_points.hpp. Where there is no machine code, such kernels are interpreted in frames.
struct KernelReduction {
  KernelId kernel = no_kernel_part;
  KernelReducer reducer = KernelReducer::sum;
  KernelRegister count = no_kernel_part;
  std::vector<KernelRegister> inputs;  ///< but for the point
  KernelRegister result = no_kernel_part;
  bool operator==(const KernelReduction&) const = default;
};

/// It asks how far the numbers are from their mean: devices compute all others.
constexpr bool needs_deviation(KernelReducer reducer) {
  return reducer == KernelReducer::deviation || reducer == KernelReducer::variance;
}

/// Of a C function of numbers, booleans and arrays, which are two arguments of it. A bool is a byte there. One of this
/// program, whose library is "", writes to own arrays among its inputs: stdlib/own_functions.hpp.
struct KernelForeignCall {
  std::string library, symbol;
  std::uint32_t function = no_kernel_part;  ///< of the program; absent in a KernelGroup
  std::vector<KernelRegister> inputs;
  KernelRegister result = no_kernel_part;
  bool operator==(const KernelForeignCall&) const = default;
};

/// Note [own arrays]. What an iteration computes with arrays that it alone knows is one kernel. `new_floats` and the
/// like make an array, which lies on the stack, outside of all loops; `put` writes an element, and whoever made the
/// kernel has seen to it that each is written before any is read; `first` is an array of the first elements of another
/// one. A loop may carry own arrays on, and write into those of its variables that never are anything else. The rows of
/// a kernel, the parameters behind the first one, are such arrays of its caller: what a point of a launch writes to as
/// many elements of an array as are in a row. `each` runs its block for the points 0 to count - 1, in that order, as a
/// point may read what those before it have put. Many are computed side by side where it is seen that none does: so
/// what fails in it is told behind it. Where there is no machine code, such kernels are interpreted in frames.
struct KernelEach {
  KernelRegister point = no_kernel_part, count = no_kernel_part;
  KernelBlockId block = no_kernel_part;
  bool operator==(const KernelEach&) const = default;
};

struct Kernel {
  std::string name;
  Place place;                    ///< of the function
  std::vector<KernelType> types;  ///< by register
  std::uint32_t parameter_count = 0;
  std::uint32_t row_count = 0;          ///< of the parameters from the second one on
  std::vector<std::int64_t> constants;  ///< bits as in leaf_abi.hpp; the first one's register is parameter_count
  std::vector<KernelRegister> outputs;
  std::vector<std::vector<KernelInstruction>> blocks;  ///< none: there is no such kernel
  std::vector<KernelBranch> branches;
  std::vector<KernelLoop> loops;
  std::vector<KernelCall> calls;
  std::vector<KernelReduction> reductions;
  std::vector<KernelForeignCall> foreign_calls;
  std::vector<KernelEach> eaches;

  bool exists() const { return !blocks.empty(); }
  /// Something that it does takes what is in the register.
  bool reads(KernelRegister id) const;
  bool has_own_arrays() const;
  bool is_constant(KernelRegister id) const { return id >= parameter_count && id - parameter_count < constants.size(); }
  /// @pre is_constant(id)
  std::int64_t constant(KernelRegister id) const { return constants[id - parameter_count]; }
  bool operator==(const Kernel&) const = default;
};

/// Calls `visit` with the id of each kernel that `kernel`, perhaps const, calls.
template <typename Kernel, typename Visit>
void visit_callees(Kernel& kernel, const Visit& visit) {
  for (auto& call : kernel.calls) visit(call.kernel);
  for (auto& reduction : kernel.reductions) visit(reduction.kernel);
}

/// A kernel, the first one, with all that it calls, in the order in which they are first called. It does not depend on
/// the program that it was taken from: equal code of equal places is equal.
using KernelGroup = std::vector<Kernel>;
/// @param kernels  by id; all that are called exist
KernelGroup group_of(std::span<const Kernel* const> kernels, KernelId first);

}  // namespace raddle::vm
