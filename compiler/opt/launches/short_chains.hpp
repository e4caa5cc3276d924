#pragma once
#include "compiler/ir/module.hpp"

namespace raddle::opt {

/// Loops in order of many rounds that each work with small arrays, as those of a filter, of a Markov chain or of a
/// recurrent net:
///   before  for (x = x0, int t = 1; t < n; ..) {       after  if (1 + least_rounds <= n && m <= most_chain_elements) {
///             x = f(matmul(A, x)); u[t, :] = x }                foreach z in [0:0] { .. own x and u .. }
///                                                             } else { as before }
/// The iteration (own_iteration.hpp) is a kernel of opt/flatten, or nothing is changed: in a round each operation on
/// arrays would be a launch, which takes longer than what it computes. How many elements arrays have is known only when
/// it runs: of those that live on it is asked before, and the kernel fails where others have more.
/// @pre launches are found, nests are not
void launch_short_chains(ir::Module& module, ir::Function& function);

}  // namespace raddle::opt
