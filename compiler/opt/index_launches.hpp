#pragma once
#include "compiler/ir/module.hpp"

namespace raddle::opt {

/// Finds the loops that are an index launch: `foreach i in [low:high:step]`, or `foreach x, i in A` over an array with
/// int keys, whose iterations compute scalars as a leaf function could, and have nothing to do with each other but that
/// they write them to `B[i]` of arrays outside, or add them to updateables. What an iteration computes becomes a leaf
/// function of its own, whose first parameter is the point of the launch space, which also projects to the element that
/// is written, the others what the iteration reads from outside: `callee` and `captures` of the loop. Its k-th output
/// is the value of the k-th array_insert or update of the body. The body stays: it is run where there is no machine
/// code, where a capture is not there yet, where the keys of `A` are not 0 to n - 1, and where an iteration fails.
/// Needs: infer-leaves.
void find_index_launches(ir::Module& module);

}  // namespace raddle::opt
