#pragma once
// Leaf functions as kernels: Note [kernels] in vm/kernel/kernel.hpp.
#include "compiler/ir/module.hpp"
#include "vm/kernel/kernel.hpp"

namespace raddle::emit {

/// @param leaf  a function of kind leaf, whose operations stand in an order in which they can be carried out
/// @return      calls name functions of the module; no blocks if it has an operation that kernels do not know, which
///              infer-leaves lets into no leaf
vm::Kernel emit_kernel(const ir::Module& module, const ir::Function& leaf);

/// By function; those that are no leaves have none.
std::vector<vm::Kernel> emit_kernels(const ir::Module& module);

}  // namespace raddle::emit
