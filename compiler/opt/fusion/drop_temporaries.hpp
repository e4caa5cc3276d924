#pragma once
#include "compiler/ir/module.hpp"

namespace raddle::opt {

/// Arrays of which nothing is left but that fused loops write them, and that all elements are there, are not made:
/// after fuse-loops, whose loops pass on what their points have written.
///   before   foreach i in [0:n-1] { x = a[i] - b[i]; d[i] = x; r[i] = x * x; }   after   no d
void drop_temporaries(ir::Module& module);
/// The same in a function that is to be a leaf of the module.
void drop_temporaries(const ir::Module& module, ir::Function& function);

}  // namespace raddle::opt
