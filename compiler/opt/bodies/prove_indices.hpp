#pragma once
#include "compiler/ir/module.hpp"

namespace raddle::opt {

/// Checks of indices and slices of dense arrays (`@index`, `@slice`) that hold wherever they are made, by the loops and
/// conditions around them (ints/int_order), go: in `foreach i in [1:n-2] { y[i] = x[i-1]; }` all of them, if both
/// arrays have n elements. What is left of a key is then the loop's variable, so that the loop can be an index launch
/// whose points write where they are. What such an index is made of can not overflow then: it becomes `index_add`. So
/// do bounds of loops, as in `[1:m-2]`, if m is an extent of an array that is indexed here: then they may leave loops
/// around (hoist_keys). A number that is only to become an extent may be any.
void prove_indices(ir::Module& module);

}  // namespace raddle::opt
