#pragma once
#include "compiler/ir/module.hpp"

namespace raddle::opt {

/// Two loops over the same ints, of which the second one reads what the first one writes, at its own point only, become
/// one loop; an array that nothing else reads is never made then.
///   before   foreach i in [0:n-1] { d[i] = a[i] - b[i]; }        after   foreach i in [0:n-1] {
///            foreach i in [0:n-1] { r[i] = d[i] * d[i]; }                  r[i] = (a[i] - b[i]) * (a[i] - b[i]);
///                                                                        }
/// So do loops over the same rows and columns, and one over all elements of an array with one over its rows and
/// columns. All are index launches, and so is what is made of them. It begins when all is there that either of them
/// needs (Op::is_needed), so the second one may need nothing that depends on the first one otherwise. Source: the
/// constraints of Sundram, Lee, Aiken, "Task Fusion in Distributed Runtimes" (PAW-ATM 2022), section 4. Needs:
/// infer-leaves.
void fuse_loops(ir::Module& module);
/// The same in a function that is to be a leaf of the module: loops whose numbers are reduced stay as they are.
void fuse_loops(ir::Module& module, ir::Function& function);

}  // namespace raddle::opt
