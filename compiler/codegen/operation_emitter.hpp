#pragma once
// What each operation of kernels means (vm/kernel/kernel_ops.def), as LLVM: of one value or of a vector of them.
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <cstdint>
#include <span>

#include "vm/kernel/kernel.hpp"

namespace raddle::codegen {

/// Base of those who emit functions: they know what becomes of failures. Values are i64, double, i1, or vectors of as
/// many of them; inputs that are no vectors are the same for all lanes.
class OperationEmitter {
 public:
  OperationEmitter(const OperationEmitter&) = delete;
  OperationEmitter& operator=(const OperationEmitter&) = delete;

 protected:
  OperationEmitter(llvm::Module& out, llvm::BasicBlock* entry) : out_(out), builder_(entry) {}
  ~OperationEmitter() = default;

  /// Of an operation that needs no memory.
  /// @return  its result; null: it has none
  llvm::Value* emit_operation(const vm::KernelInstruction& instruction, std::span<llvm::Value* const> inputs);
  /// @param failed  i1 or a vector of them. @param status  a raddle_leaf_status
  virtual void fail_if(llvm::Value* failed, std::int32_t status, const vm::Place& place) = 0;
  /// Whether what is emitted after fail_if() is run only if nothing has failed. If not, it is run with any values.
  virtual bool leaves_when_failed() const = 0;

  llvm::Value* int_constant(std::int64_t value) { return builder_.getInt64(static_cast<std::uint64_t>(value)); }
  /// @return  `value`, or a vector of it as long as the type is
  llvm::Value* splat(llvm::Value* value, llvm::Type* like);
  /// Of an element of an array of booleans, a byte.
  llvm::Value* is_true(llvm::Value* bytes) { return builder_.CreateIsNotNull(bytes); }

  llvm::Module& out_;
  llvm::IRBuilder<> builder_;

 private:
  using Predicate = llvm::CmpInst::Predicate;
  llvm::Value* add(llvm::Value* left, llvm::Value* right, const vm::Place& place);
  llvm::Value* subtract(llvm::Value* left, llvm::Value* right, const vm::Place& place);
  llvm::Value* multiply(llvm::Value* left, llvm::Value* right, const vm::Place& place);
  llvm::Value* checked(llvm::Intrinsic::ID intrinsic, llvm::Value* left, llvm::Value* right, const vm::Place& place);
  llvm::Value* divide(bool wants_rest, llvm::Value* left, llvm::Value* right, const vm::Place& place);
  llvm::Value* divide_lanes(bool wants_rest, llvm::Value* left, llvm::Value* right);
  llvm::Value* float_to_int(llvm::Value* number, const vm::Place& place);
  llvm::Value* extreme(Predicate wins, llvm::Value* left, llvm::Value* right);
  llvm::Value* mathematics(const vm::KernelInstruction& instruction, std::span<llvm::Value* const> inputs);
  llvm::Value* fused(llvm::Value* left, llvm::Value* right, llvm::Value* addend);
  void assert_that(llvm::Value* holds, const vm::Place& place);
  llvm::Value* to_float(llvm::Value* value);
};

}  // namespace raddle::codegen
