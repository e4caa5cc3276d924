#pragma once
#include <functional>

#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/ir/module.hpp"

namespace raddle::opt {

/// Marks the functions that can be compiled to machine code as leaf functions: those over int, float and boolean
/// scalars and read-only arrays of them (int keys), whose bodies hold arithmetic, `if`, `switch`, loops, calls of other
/// leaf functions and the library functions of vm/kernel/kernel_ops.def, reductions of whole-array expressions
/// (ir/reduced_loops.hpp), and in which every variable is surely assigned
/// before it is read. Functions that call each other are leaves together or not at all. What stands in the way goes to
/// Function::not_leaf_reason; where `@leaf` demands one it is reported. Needs: order-operations.
void infer_leaves(ir::Module& module, Diagnostics& diagnostics);

/// True if the function, which need not be one of the module, is such a function. One that is launched may call library
/// functions, too (ir/library_calls.hpp), if nothing can fail after that. @pre leaves of the module are inferred
bool can_be_leaf(const ir::Module& module, const ir::Function& function);
/// Whether a function of the module is a leaf, while that is still being found out.
using IsLeaf = std::function<bool(ir::FunctionId)>;
/// The same for such.
bool can_be_leaf(const ir::Module& module, const ir::Function& function, const IsLeaf& is_leaf);

}  // namespace raddle::opt
