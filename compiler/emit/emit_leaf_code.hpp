#pragma once
// Leaf functions as register code: Note [leaf code] in vm/program/leaf_code.hpp.
#include "compiler/ir/module.hpp"
#include "vm/program/leaf_code.hpp"

namespace raddle::emit {

/// @param leaf  a function of kind leaf, whose operations stand in an order in which they can be carried out
/// @return      no instructions if the function is too long, or calls what only interpreted code knows
vm::LeafCode emit_leaf_code(const ir::Module& module, const ir::Function& leaf);

}  // namespace raddle::emit
