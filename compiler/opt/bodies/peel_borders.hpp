#pragma once
#include "compiler/ir/module.hpp"

namespace raddle::opt {

/// Of a loop that reads elements of an array that it writes, the iterations at the ends of a range become loops of
/// their own, if branches tell them apart, or indices that begin anew there, as `(j + 1) %% n` does:
///   foreach j in [0 : n - 1] {                     foreach j in [0 : min(0, n - 1)] { u[t, j] = 0.0; }
///     if (j == 0) { u[t, j] = 0.0; }               foreach j in [1 : n - 1] { u[t, j] = u[t - 1, j - 1]; }
///     else { u[t, j] = u[t - 1, j - 1]; }
///   }
/// Points of a launch wait for all elements that they read, so what a branch reads must be read in any case; and of
/// those whose keys are sums many are run at once.
/// Source: index set splitting, as in Allen, Kennedy, "Optimizing Compilers for Modern Architectures", 5.7 (2001)
void peel_borders(ir::Module& module);

}  // namespace raddle::opt
