#pragma once
#include "compiler/ir/module.hpp"

namespace raddle::opt {

/// Finds the loops `foreach i in [low:high:step]` that are an index launch: iterations that compute scalars as a leaf
/// function could, and write them to `A[i]` of arrays outside. What an iteration computes becomes a leaf function of
/// its own, whose first parameter is the loop variable (it projects a point of the launch space to the element that is
/// written), the others what the iteration reads from outside: `callee` and `captures` of the foreach_range. Its k-th
/// output is the value of the k-th array_insert of the body. The body stays: it is run where there is no machine code,
/// where a capture is not there yet, and where an iteration fails.
/// Needs: infer-leaves.
void find_index_launches(ir::Module& module);

}  // namespace raddle::opt
