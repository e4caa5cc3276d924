#pragma once
#include "compiler/ir/module.hpp"

namespace raddle::opt {

/// Computes operations whose operands are constants, and puts constants in place of the variables that hold them.
///   before   %1 = mul 2, 3           after   %x = add %y, 6
///            %x = add %y, %1
/// Branches whose condition is known then give way to the one that is taken.
/// What would fail at run time (overflow, division by zero) is left to fail there.
void fold_constants(ir::Module& module);
/// The same in a function of the module.
void fold_constants(ir::Module& module, ir::Function& function);

}  // namespace raddle::opt
