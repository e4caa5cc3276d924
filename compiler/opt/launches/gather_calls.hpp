#pragma once
#include "compiler/ir/module.hpp"

namespace raddle::opt {

/// In leaf functions: brings calls together that need nothing of each other, so that code generation can fork all but
/// the first of them (Note [forks] in vm/program/leaf_abi.hpp). Only calls that may take long, see HeavyLeaves; between
/// them stand only operations that are computed at once.
///   before   %a = sub %n, 1          after   %a = sub %n, 1
///            %x = call fib %a                %b = sub %n, 2
///            %b = sub %n, 2                  %x = call fib %a
///            %y = call fib %b                %y = call fib %b
/// @pre infer_leaves, order_operations
void gather_calls(ir::Module& module);

}  // namespace raddle::opt
