#pragma once
#include "compiler/ir/module.hpp"

namespace raddle::opt {

/// What keys of dense arrays are made of (`index_add`, `index_mul`) leaves each `foreach` that does not change it: of
/// the key `i*m + j` the row's `i*m` is computed once in a loop over j. Sums are put in order for that: `(i*m + j) + k`
/// is `(i*m + k) + j` there. What is left of a key is then affine in the loop's variable (ir/affine_keys.hpp).
/// So do sums and products that ranges of loops are made of. These may overflow, and fail then although the loop around
/// has no iteration; but only where no loop over such a range would ever end.
void hoist_keys(ir::Module& module);

}  // namespace raddle::opt
