#pragma once
// What the types and operations of the IR are in kernels.
#include <optional>

#include "compiler/ir/module.hpp"
#include "vm/kernel/kernel.hpp"

namespace raddle::ir {

struct KernelOperator {
  vm::KernelOp op = vm::KernelOp::if_;  ///< `if_`: there is none for this type
  bool swaps = false;                   ///< the operands: `gt` and `ge` are `lt` and `le` the other way round
};

/// @param type  of the first operand: int_, float_ or boolean
KernelOperator kernel_operator(OpKind kind, vm::KernelType type);

/// @return none: kernels have no such type
std::optional<vm::KernelType> kernel_type(const TypeStore& types, TypeId type);

/// Of a call_builtin whose operands have these types. The text of an assertion, the last operand, is no input of it.
/// @return `if_` if there is none: leaves do not call that function
vm::KernelOp library_operator(const Module& module, const Function& function, const Op& op);

}  // namespace raddle::ir
