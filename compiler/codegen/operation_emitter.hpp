#pragma once
// Operations of kernels (vm/kernel/kernel_operations.hpp) as LLVM: of one value or of a vector of them.
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
  /// @param converts_ints  of many at once: see KernelIr
  explicit OperationEmitter(llvm::BasicBlock* entry, bool converts_ints = false)
      : builder_(entry), converts_ints_(converts_ints) {}
  ~OperationEmitter() = default;

  /// Of an operation that reads no array.
  /// @return  its result; null: it has none
  llvm::Value* emit_operation(const vm::KernelInstruction& instruction, std::span<llvm::Value* const> inputs);
  /// What follows is emitted so that it does nothing that is not defined if something has failed.
  /// @param failed  i1 or a vector of them. @param status  a raddle_leaf_status
  virtual void fail_if(llvm::Value* failed, std::int32_t status, const vm::Place& place) = 0;

  llvm::Value* int_constant(std::int64_t value) { return builder_.getInt64(static_cast<std::uint64_t>(value)); }
  /// @return  `value`, or a vector of it as long as the type is
  llvm::Value* splat(llvm::Value* value, llvm::Type* like);

  llvm::IRBuilder<> builder_;

 private:
  const bool converts_ints_;
};

}  // namespace raddle::codegen
