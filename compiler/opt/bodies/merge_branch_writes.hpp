#pragma once
#include "compiler/ir/module.hpp"

namespace raddle::opt {

/// In loops over ranges and arrays: where all branches of an `if` or `switch` write a number to the same element, one
/// write after it does, of a variable that the branches set. So the loop may be an index launch.
///   before   if %c {                     after   if %c {
///              array_insert %a, %i, 1              %v = copy 1
///            } {                                 } {
///              array_insert %a, %i, %x             %v = copy %x
///            }                                   }
///                                                array_insert %a, %i, %v
/// Also elements of rows and of dense arrays, and keys that all branches compute in the same way. The element is there
/// (not its value) before the condition is known. If it was assigned before, the place told is that of the `if`.
void merge_branch_writes(ir::Module& module);

}  // namespace raddle::opt
