#pragma once
#include "compiler/ir/module.hpp"

namespace raddle::opt {

/// Of a loop around others that reads elements of arrays that it writes, parts that need nothing of each other but what
/// can not fail become loops of their own:
///   foreach t in [1 : m] {                          foreach t in [1 : m] { u[t, 0] = u[t - 1, 1]; }
///     u[t, 0] = u[t - 1, 1];                        foreach t in [1 : m] {
///     foreach j in [1 : n] { u[t, j] = .. }           foreach j in [1 : n] { u[t, j] = .. }
///   }                                               }
/// Each can be a launch or a nest then, which both together can not.
/// Source of the term: Allen, Kennedy, "Optimizing Compilers for Modern Architectures", 6.2 (2001)
/// @pre operations are ordered
void distribute_loops(ir::Module& module);

}  // namespace raddle::opt
