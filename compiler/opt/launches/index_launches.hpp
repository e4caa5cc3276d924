#pragma once
#include "compiler/ir/module.hpp"

namespace raddle::opt {

/// Finds the loops that are an index launch: `foreach i in [low:high:step]`, or `foreach x, i in A` over an array with
/// int keys, whose iterations compute scalars as a leaf function could. Such a loop gets an ir::IndexLaunch. What an
/// iteration computes becomes a leaf function of its own, the launch's kernel, whose first parameter is the point of
/// the launch space. There are two sorts:
///
/// - Iterations have nothing to do with each other but that they write to `B[i]` of arrays outside, or to `B[k][i]` of
///   one row of such, or add to updateables. The other parameters of the kernel are what the iteration reads from
///   outside: `captures`. It is called for many points at once.
/// - Iterations over a range read and write elements of arrays by keys, also of arrays in arrays: `B[t][i] =
///   f(B[t - 1][i], A[g(i)])`. A second leaf computes the keys of a point: the projection. What keys depend on, and
///   what is read by such keys, comes out of whole arrays: `B[i, j] = A[x[i], j]` begins when A and x are there. A
///   point waits for its elements only, but for all of them; the arrays that the loop writes close when the points have
///   been computed.
///
/// The body stays: it is run where a capture is not there yet, where the keys of `A` are not 0 to n - 1, and where an
/// iteration fails; of the first sort also where there is no machine code.
///
/// What an iteration computes may call functions of shared libraries (ir/library_calls.hpp), each once.
///
/// Needs: infer-leaves.
void find_index_launches(ir::Module& module);

/// Makes index launches of the loops in leaf functions: of those whose numbers are reduced (ir/reduced_loops.hpp).
/// Needs: infer-leaves.
void launch_reduced_loops(ir::Module& module);

}  // namespace raddle::opt
