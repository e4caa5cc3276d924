#pragma once
#include "compiler/ir/module.hpp"

namespace raddle::opt {

/// Drops operations without effect whose results nobody reads, those that only they read, and variables that are left
/// without use: frames get smaller.
///   before   %1 = mul %x, 2          after   %y = add %x, 1
///            %y = add %x, 1
/// A variable that is assigned twice keeps its assignments: that is an error of the script, found at run time.
void remove_dead_code(ir::Module& module);

}  // namespace raddle::opt
